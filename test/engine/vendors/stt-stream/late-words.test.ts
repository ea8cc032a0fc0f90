import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { ChainedRecognizer } from "../../../../engine/vendors/chain/stt-chain.js";
import { VirtualClock } from "../../../doubles/virtual-clock.js";
import { chainOf } from "../chain/chain-of.js";
import { RecordingListener } from "../recording-listener.js";
import { LISTENING, RECOGNIZERS, SlowRecognizer, speak } from "./slow-recognizer.js";

const PATIENCE_MS = 3_000;
const LATE_MS = [500, 1_000, 1_400, 1_700, 2_000, 2_500, 3_000, 3_500, 4_000] as const;

const SCRIPTS: readonly (readonly (string | number)[])[] = [
  ["I would like to book a table for four tonight", 400],
  ["no", 3_000, "not on Monday please", 400],
  [
    "the one that I ordered last week has not come yet and I would like to know where it is because I need it by the end of this week please",
    400,
  ],
  [
    "my name is Robert",
    700,
    "and I call about the bill of last month",
    1_500,
    "it says eighty euros more than what we had agreed on the phone",
    400,
    "can you look into that for me",
    300,
  ],
];

function wordsOf(script: readonly (string | number)[]): string {
  return script.filter((part) => typeof part === "string").join(" ");
}

describe("words that come late", () => {
  let clock: VirtualClock;
  let listener: RecordingListener;

  beforeEach(() => {
    clock = new VirtualClock();
    listener = new RecordingListener();
  });

  const watch = { answered: () => undefined, failed: () => undefined, hedged: () => undefined };

  function chain(...clients: readonly [SlowRecognizer, ...SlowRecognizer[]]): ChainedRecognizer {
    const [first, ...others] = clients.map((client, at) => ({
      vendor: `vendor${at}`,
      modelId: "any",
      client,
    }));
    assert.ok(first !== undefined);
    return new ChainedRecognizer(chainOf("stt", clock, watch, [first, ...others]), PATIENCE_MS);
  }

  async function hears(recognizer: ChainedRecognizer, script: readonly (string | number)[]) {
    const stream = await recognizer.open(LISTENING, listener, new AbortController().signal);
    await speak(stream, clock, [600, ...script, 9_000]);
    stream.close();
    assert.deepEqual(listener.failed, []);
    assert.equal(listener.finalText, wordsOf(script));
    assert.equal(clock.pendingTimerCount, 0);
  }

  for (const kind of RECOGNIZERS) {
    for (const lateMs of LATE_MS) {
      it(`of ${kind}, by ${lateMs} ms, are all reported once`, async () => {
        for (const script of SCRIPTS) {
          listener = new RecordingListener();
          clock = new VirtualClock();
          await hears(chain(new SlowRecognizer(kind, clock, lateMs)), script);
        }
      });

      it(`of ${kind} and of its fallback, by ${lateMs} ms, are all reported once`, async () => {
        for (const script of SCRIPTS) {
          listener = new RecordingListener();
          clock = new VirtualClock();
          const first = new SlowRecognizer(kind, clock, lateMs);
          await hears(chain(first, new SlowRecognizer("assemblyai", clock, lateMs)), script);
        }
      });
    }
  }
});
