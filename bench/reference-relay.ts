import * as v from "valibot";
import { type RawData, WebSocket } from "ws";
import { answer, heardIn, openRecognizer, serveRelay, type Voice } from "./relay-parts.js";

/**
 * The least that can be in the same place: audio to the recognizer, its words to the model, the first sentence to the
 * voice, the MP3 to the caller. No tenants, no history, no storage, no limits, no faults, no metrics. What Parley costs
 * more than this is the price of its features, and that is what the budgets bound.
 */
const Environment = v.object({ DEEPGRAM_URL: v.string(), OPENAI_BASE_URL: v.string() });
const { DEEPGRAM_URL, OPENAI_BASE_URL } = v.parse(Environment, process.env);

const VOICE: Voice = {
  url: `${OPENAI_BASE_URL}/audio/speech`,
  bodyOf: (input) => ({
    model: "gpt-4o-mini-tts",
    voice: "alloy",
    input,
    response_format: "mp3",
    speed: 1,
  }),
};

function relay(caller: WebSocket): void {
  const recognizer = openRecognizer(DEEPGRAM_URL, "encoding=linear16&sample_rate=16000");
  let stop = () => {};
  let isSpeaking = false;
  recognizer.on("open", () => {
    caller.send(JSON.stringify({ type: "connected", agentName: "Relay", historyKey: "none" }));
  });
  recognizer.on("message", (data: Buffer) => {
    const { text, isFinal } = heardIn(data);
    if (text === "") return;
    if (isSpeaking) {
      isSpeaking = false;
      stop();
      caller.send(JSON.stringify({ type: "audioStop" }));
    }
    if (!isFinal) return;
    stop = answer(OPENAI_BASE_URL, VOICE, text, (mp3) => {
      if (caller.readyState !== WebSocket.OPEN) return;
      caller.send(mp3);
      isSpeaking = true;
    });
  });
  recognizer.on("error", () => caller.close());
  recognizer.on("close", () => caller.close());
  caller.on("message", (audio: RawData) => {
    if (recognizer.readyState === WebSocket.OPEN) recognizer.send(audio);
  });
  caller.on("error", () => undefined);
  caller.on("close", () => {
    stop();
    recognizer.close();
  });
}

serveRelay(relay);
