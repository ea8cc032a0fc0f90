import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import { MULAW_8K } from "../../../engine/audio/audio-format.js";
import type { VendorFault } from "../../../engine/vendors/contracts.js";
import { ScriptedRecognition } from "./scripted-recognition.js";
import { bytesOf } from "./scripted-socket-server.js";

const BYTES_PER_MS = 32;
const FRAME = new Uint8Array(20 * BYTES_PER_MS).fill(8);

const VENDORS = [
  {
    vendor: "deepgram",
    modelId: "flux-general-en",
    pieceFrames: 4,
    endMark: { type: "CloseStream" },
    authorization: "Token the-key",
    requests: [
      [{}, {}, "/v2/listen?model=flux-general-en&encoding=linear16&sample_rate=16000"],
      [
        { eotThreshold: 0.7, eagerEotThreshold: 0.4, eotTimeoutMs: 6_000 },
        { format: MULAW_8K, eagerTurns: true },
        "/v2/listen?model=flux-general-en&encoding=mulaw&sample_rate=8000" +
          "&eot_threshold=0.7&eager_eot_threshold=0.4&eot_timeout_ms=6000",
      ],
      [
        {},
        { eagerTurns: true, modelId: "flux-general-multi", language: "de-AT" },
        "/v2/listen?model=flux-general-multi&encoding=linear16&sample_rate=16000" +
          "&eager_eot_threshold=0.5&language_hint=de",
      ],
    ],
    closeFaults: [
      [1_008, "refused"],
      [1_011, "unavailable"],
      [1_000, "disconnected"],
    ],
  },
  {
    vendor: "assemblyai",
    modelId: "universal-streaming-english",
    pieceFrames: 3,
    endMark: { type: "Terminate" },
    authorization: "the-key",
    requests: [
      [
        {},
        {},
        "/v3/ws?sample_rate=16000&encoding=pcm_s16le&speech_model=universal-streaming-english",
      ],
      [
        { minTurnSilenceMs: 200, maxTurnSilenceMs: 900, endOfTurnConfidence: 0.6 },
        { format: MULAW_8K },
        "/v3/ws?sample_rate=8000&encoding=pcm_mulaw&speech_model=universal-streaming-english" +
          "&min_turn_silence=200&max_turn_silence=900&end_of_turn_confidence_threshold=0.6",
      ],
    ],
    closeFaults: [
      [1_008, "unauthorized"],
      [1_008, "unauthorized", "Unauthorized connection: Missing Authorization header"],
      [1_008, "rateLimited", "Unauthorized connection: Too many concurrent sessions"],
      [4_001, "unauthorized"],
      [4_002, "quotaExceeded"],
      [4_003, "quotaExceeded"],
      [3_006, "refused"],
      [3_007, "refused", "Input duration violation: 20 ms. Expected between 50 and 1000 ms"],
      [
        3_007,
        "disconnected",
        "Audio Transmission Rate Exceeded: Received 3.2 sec. audio in 1.6 sec",
      ],
      [3_009, "rateLimited"],
      [4_029, "rateLimited"],
      [3_005, "unavailable"],
      [4_999, "disconnected"],
    ],
  },
] as const;

const LASTING: ReadonlySet<VendorFault> = new Set(["unauthorized", "quotaExceeded", "refused"]);

for (const { vendor, modelId, pieceFrames, endMark, authorization, ...expected } of VENDORS) {
  describe(`the requests and data for an STT with turn detection: ${vendor}`, () => {
    let scripted: ScriptedRecognition;

    beforeEach(async () => {
      scripted = new ScriptedRecognition(vendor);
      await scripted.server.start();
    });

    afterEach(() => scripted.close());

    for (const [settings, options, url] of expected.requests) {
      it(`asks for ${url}`, async () => {
        const { stream, peer } = await scripted.open({ modelId, ...options }, settings);
        assert.equal(peer.request.url, url);
        assert.equal(peer.request.headers.authorization, authorization);
        stream.close();
      });
    }

    it(`sends sound in pieces of ${pieceFrames} frames, and fills the last one up`, async () => {
      const { stream, peer } = await scripted.open({ modelId });
      for (let n = 0; n < 2 * pieceFrames + 1; n++) stream.write(FRAME);
      const finished = stream.finish();
      await scripted.changes.until("the end mark", () => peer.texts.length === 1);
      assert.deepEqual(JSON.parse(peer.texts[0] ?? ""), endMark);
      const sizes = peer.binaries.map(({ length }) => length);
      assert.deepEqual(sizes, Array(3).fill(pieceFrames * FRAME.length));
      scripted.clock.advance(2_000);
      await finished;
    });

    it("is sent half a second of silence for each half second without audio", async () => {
      const { stream, peer } = await scripted.open({ modelId });
      scripted.clock.advance(499);
      for (let n = 0; n < pieceFrames; n++) stream.write(FRAME);
      await scripted.changes.until("the sound", () => peer.binaries.length === 1);
      assert.equal(bytesOf(peer), pieceFrames * FRAME.length);
      scripted.clock.advance(499);
      scripted.clock.advance(1);
      await scripted.changes.until("the silence", () => peer.binaries.length === 2);
      assert.deepEqual(peer.binaries[1], Buffer.alloc(500 * BYTES_PER_MS));
      scripted.clock.advance(1_000);
      await scripted.changes.until("more silence", () => peer.binaries.length === 4);
      assert.deepEqual(peer.texts, []);
      stream.close();
    });

    it("sends it late by 50 ms, and looks twice where it is later: the caller's words may be unread", async () => {
      for (const [lateMs, order] of [
        [50, [500, 20 * pieceFrames]],
        [51, [20 * pieceFrames]],
      ] as const) {
        const { stream, peer } = await scripted.open({ modelId });
        scripted.clock.stall(500 + lateMs);
        for (let n = 0; n < pieceFrames; n++) stream.write(FRAME);
        scripted.clock.advance(100);
        const finished = stream.finish();
        await scripted.changes.until("the end mark", () => peer.texts.length === 1);
        const durationsMs = peer.binaries.map(({ length }) => length / BYTES_PER_MS);
        assert.deepEqual(durationsMs, order);
        scripted.clock.advance(2_000);
        await finished;
      }
    });

    for (const [code, fault, reason = "why"] of expected.closeFaults) {
      it(`a connection that is closed with ${code} (${reason}) is ${fault}`, async () => {
        const { stream, peer } = await scripted.open({ modelId });
        peer.socket.close(code, reason);
        const { failed, lost } = scripted.listener;
        const told = LASTING.has(fault) ? failed : lost;
        await scripted.changes.until("the end", () => failed.length + lost.length > 0);
        assert.equal(told[0]?.fault, fault);
        assert.equal(told[0]?.vendorText, reason);
        assert.equal(told[0]?.message.includes(reason), false);
        stream.close();
      });
    }
  });
}
