import { Bench } from "tinybench";
import { decodeMulaw, encodeMulaw } from "../engine/audio/mulaw.js";
import {
  EMPTY_SPLITTER,
  sentencesOf,
  speakable,
  splitToken,
} from "../engine/conversation/sentences.js";
import { EMPTY_HEARING, onTranscript } from "../engine/conversation/transcript-buffer.js";

/** What the pure pieces of a call cost, each by itself: `node dist/bench/pure-parts.js`. */
const REPLY =
  "Of course. I have found three rooms for you, two of them with a view of the lake. The first one costs 120.50 a night, breakfast included. Shall I book it?";
const TRANSCRIPT = {
  text: "a table for two please",
  isFinal: true,
  speechFinal: true,
  lastWordEndMs: 4_000,
};
const frame = new Uint8Array(160).fill(0x55);
const samples = new Int16Array(160).fill(1_200);

const bench = new Bench({ time: 300, warmupTime: 100 });
bench
  .add("a token through the sentence splitter", () => {
    splitToken(EMPTY_SPLITTER, " lake");
  })
  .add("a reply of four sentences through the splitter", () => {
    sentencesOf(REPLY);
  })
  .add("a sentence made speakable", () => {
    speakable(REPLY);
  })
  .add("a transcript through the turn detector", () => {
    onTranscript(EMPTY_HEARING, TRANSCRIPT);
  })
  .add("a µ-law frame of 20 ms decoded", () => {
    decodeMulaw(frame);
  })
  .add("a µ-law frame of 20 ms encoded", () => {
    encodeMulaw(samples);
  });

await bench.run();
console.table(bench.table());
