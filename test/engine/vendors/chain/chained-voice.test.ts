import assert from "node:assert/strict";
import { beforeEach, describe, it } from "node:test";
import { MP3, PCM_24K } from "../../../../engine/audio/audio-format.js";
import { AnswerTimes } from "../../../../engine/vendors/chain/answer-times.js";
import type { ChainWatch } from "../../../../engine/vendors/chain/chain.js";
import { ChainedVoice } from "../../../../engine/vendors/chain/tts-chain.js";
import {
  type SpeechFormat,
  type SpokenWord,
  VendorError,
} from "../../../../engine/vendors/contracts.js";
import { ScriptedVoice } from "../../../doubles/scripted-voice.js";
import { VirtualClock } from "../../../doubles/virtual-clock.js";
import { chainOf } from "./chain-of.js";

const PATIENCE_MS = 1_500;
const MP3_BYTES = Uint8Array.of(0xff, 0xf3, 0x64, 0xc4);
const DOWN = new VendorError("first", "unavailable", "first: down");

describe("a voice with a fallback", () => {
  let clock: VirtualClock;
  let first: ScriptedVoice;
  let second: ScriptedVoice;
  let times: AnswerTimes;
  let told: unknown[];
  let heard: Uint8Array[];
  let call: AbortController;
  let chain: ReturnType<typeof chained>;

  beforeEach(() => {
    clock = new VirtualClock();
    [first, second] = [new ScriptedVoice(), new ScriptedVoice()];
    times = new AnswerTimes();
    [told, heard] = [[], []];
    call = new AbortController();
    chain = chained(first, second);
  });

  function chained(one: ScriptedVoice, ...others: readonly ScriptedVoice[]) {
    const watch: ChainWatch = {
      answered: (_category, { vendor }) => told.push(["answered", vendor]),
      failed: (_category, { vendor }, { fault, message }, wasted) =>
        told.push(["failed", vendor, fault, message, wasted]),
      hedged: () => undefined,
    };
    const named = (vendor: string, client: ScriptedVoice) => ({ vendor, modelId: vendor, client });
    return chainOf("tts", clock, watch, [
      named("first", one),
      ...others.map((client) => named("second", client)),
    ]);
  }

  function speak(format: SpeechFormat = MP3, onWords?: (words: readonly SpokenWord[]) => void) {
    const voice = new ChainedVoice(chain, { audioTimeoutMs: PATIENCE_MS, times });
    const request = { text: "Hi.", modelId: "any", speed: 9, language: "en", format };
    const timed = onWords === undefined ? request : { ...request, onWords };
    const spoken = voice.synthesize(timed, (audio) => heard.push(audio), call.signal);
    spoken.catch(() => undefined);
    return spoken;
  }

  const settled = () => new Promise(setImmediate);

  async function pass(ms: number): Promise<void> {
    clock.advance(ms);
    await settled();
  }

  it("gets its own model at its own speed, and a request for word times if needed", async () => {
    const words: unknown[] = [];
    for (const onWords of [undefined, (timed: unknown) => words.push(timed)]) {
      const spoken = speak(MP3, onWords);
      const [synthesis] = first.syntheses.splice(0);
      const { onWords: asked, ...request } = synthesis?.request ?? {};
      assert.deepEqual(request, {
        text: "Hi.",
        modelId: "first",
        speed: 1,
        language: "en",
        format: MP3,
      });
      assert.equal("onWords" in (synthesis?.request ?? {}), onWords !== undefined);
      const word = { text: "Hi", startMs: 0, endMs: 100 };
      asked?.([word]);
      synthesis?.give(MP3_BYTES);
      asked?.([word]);
      synthesis?.finish();
      await spoken;
      asked?.([]);
    }
    assert.equal(words.length, 2, "those before the audio are not told");
    assert.equal(heard.length, 2);
    assert.deepEqual(told, [
      ["answered", "first"],
      ["answered", "first"],
    ]);
  });

  it("times out without a first byte, and has the same limit between two pieces", async () => {
    const spoken = speak();
    await pass(PATIENCE_MS - 1);
    assert.equal(second.syntheses.length, 0);
    await pass(1);
    const message = `first: returned nothing for ${PATIENCE_MS} ms`;
    assert.deepEqual(told, [
      ["failed", "first", "timeout", message, { ms: PATIENCE_MS, tokens: 0 }],
    ]);
    first.syntheses[0]?.give(MP3_BYTES);
    await pass(60_000);
    second.syntheses[0]?.give(MP3_BYTES);
    await pass(60_000);
    second.syntheses[0]?.finish();
    await spoken;
    assert.equal(heard.length, 1, "what comes too late is not heard");
    [told, heard] = [[], []];
    chain = chained(first, second);
    const other = speak();
    for (let piece = 0; piece < 3; piece += 1) {
      await pass(PATIENCE_MS - 1);
      first.syntheses[1]?.give(MP3_BYTES);
    }
    assert.equal(heard.length, 3);
    await pass(PATIENCE_MS);
    await assert.rejects(other, { fault: "timeout", message });
    const ms = 3 * (PATIENCE_MS - 1) + PATIENCE_MS;
    assert.deepEqual(told, [["failed", "first", "timeout", message, { ms, tokens: 0 }]]);
    assert.equal(second.syntheses.length, 1, "the rest is asked for by the call");
    assert.equal(clock.pendingTimerCount, 0);
  });

  it("times out sooner if it usually starts sooner, and the next is expected to work", async () => {
    for (const [isDown, limitMs] of [
      [false, 800],
      [true, PATIENCE_MS],
    ] as const) {
      chain = chained(first, second);
      for (let n = 0; n < 20; n += 1) times.record(chain.first, 300);
      const [, next] = chain.candidates();
      if (isDown) next?.breaker.failed({ fault: "unauthorized", retryAfterMs: undefined });
      const asked = second.syntheses.length;
      const spoken = speak();
      await pass(limitMs - 1);
      assert.equal(second.syntheses.length, asked);
      await pass(1);
      second.syntheses.at(-1)?.give(MP3_BYTES);
      second.syntheses.at(-1)?.finish();
      await spoken;
    }
  });

  it("teaches how long it takes to its first audio, and when it was too late, but not by a failure", async (context) => {
    const { mock } = context.mock.method(times, "record");
    const took = () => mock.calls.map(({ arguments: [link, ms] }) => [link.vendor, ms]);
    const spoken = speak();
    await pass(PATIENCE_MS);
    await pass(40);
    for (const piece of [MP3_BYTES, MP3_BYTES]) second.syntheses[0]?.give(piece);
    second.syntheses[0]?.finish();
    await spoken;
    assert.deepEqual(took(), [
      ["first", PATIENCE_MS],
      ["second", 40],
    ]);
    mock.resetCalls();
    chain = chained(first, second);
    const failing = speak();
    await pass(30);
    first.syntheses[1]?.fail(DOWN);
    await settled();
    second.syntheses[1]?.fail(DOWN);
    await assert.rejects(failing, DOWN);
    assert.deepEqual(took(), []);
    assert.deepEqual(told.slice(-2), [
      ["failed", "first", "unavailable", "first: down", { ms: 30, tokens: 0 }],
      ["failed", "second", "unavailable", "first: down", { ms: 0, tokens: 0 }],
    ]);
  });

  it("has begun with a piece too short to be judged, and with anything where it gives samples", async () => {
    for (const [format, piece] of [
      [MP3, Uint8Array.of(0x6f)],
      [MP3, Uint8Array.of(0x6f, 0x6f, 0x70)],
      [MP3, Buffer.from("ID3\u0004")],
      [PCM_24K, Buffer.from("oops")],
    ] as const) {
      heard = [];
      const spoken = speak(format);
      const synthesis = first.syntheses.at(-1);
      synthesis?.give(new Uint8Array(0));
      synthesis?.give(piece);
      synthesis?.finish();
      await spoken;
      assert.deepEqual(heard, [piece]);
    }
    assert.equal(second.syntheses.length, 0);
  });

  it("has failed with what is no audio, or with none, and nothing of it is heard", async () => {
    for (const [piece, message] of [
      [Buffer.from("oops"), "first: the response is not audio"],
      [Buffer.from("IDX\u0004"), "first: the response is not audio"],
      [Buffer.from("IE3\u0004"), "first: the response is not audio"],
      [Buffer.from("JD3\u0004"), "first: the response is not audio"],
      [new Uint8Array(0), "first: no audio"],
    ] as const) {
      [told, heard] = [[], []];
      chain = chained(first, second);
      const spoken = speak();
      first.syntheses.at(-1)?.give(piece);
      first.syntheses.at(-1)?.give(MP3_BYTES.subarray(0, piece.length));
      first.syntheses.at(-1)?.finish();
      await settled();
      assert.deepEqual(told, [["failed", "first", "badAnswer", message, { ms: 0, tokens: 0 }]]);
      second.syntheses.at(-1)?.give(MP3_BYTES);
      second.syntheses.at(-1)?.finish();
      await spoken;
      assert.deepEqual(heard, [MP3_BYTES]);
    }
  });

  it("that hung when its sentence is aborted has failed, and otherwise is only left", async () => {
    for (const [hasBegun, quietMs, isHung] of [
      [true, 499, false],
      [true, 500, true],
      [false, 500, false],
      [false, PATIENCE_MS, true],
    ] as const) {
      [told, call] = [[], new AbortController()];
      chain = chained(first);
      const { breaker } = chain.first;
      breaker.failed({ fault: "unauthorized", retryAfterMs: undefined });
      clock.advance(5_000);
      const spoken = speak();
      assert.equal(breaker.phase, "halfOpen");
      if (hasBegun) first.syntheses.at(-1)?.give(MP3_BYTES);
      clock.advance(quietMs);
      call.abort();
      assert.equal(breaker.phase, "open");
      assert.equal(breaker.isSkipped, isHung, `${hasBegun} ${quietMs}`);
      await assert.rejects(spoken, { fault: "aborted" });
    }
  });
});
