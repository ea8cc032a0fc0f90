import { parentPort } from "node:worker_threads";
import * as v from "valibot";
import { Flite } from "./flite.js";

/** The thread's side of `SpeechThread`: one text after the other. */
const port = parentPort;
if (port === null) throw new Error("speech-thread is run by SpeechThread");

const SpeechRequest = v.object({ id: v.number(), text: v.string(), speed: v.number() });
const flite = await Flite.load();

port.on("message", (message: unknown) => {
  if (message === "close") {
    port.close();
    return;
  }
  const { id, text, speed } = v.parse(SpeechRequest, message);
  const pcm = flite.speak(text, speed);
  port.postMessage({ id, pcm }, [pcm.buffer]);
});
port.postMessage("ready");
// The first text takes several times as long, while V8 compiles: this spares a caller that wait.
flite.speak("Hello.", 1);
