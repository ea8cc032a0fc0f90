import assert from "node:assert/strict";
import { test } from "node:test";
import { MP3, PCM_8K, PCM_16K } from "../../../engine/audio/audio-format.js";
import { ConvertedVoice } from "../../../engine/calls/agent-vendors.js";
import type { LegAudio, PieceListener } from "../../../engine/conversation/leg-audio.js";
import { VendorError } from "../../../engine/vendors/contracts.js";
import { ScriptedVoice } from "../../doubles/scripted-voice.js";

const REQUEST = { text: "Hello", modelId: "m", speed: 1, language: "en", format: PCM_8K };
const settled = () => new Promise(setImmediate);

/** A voice with MP3 on a line with 8 kHz samples; the test controls the conversion. */
function speaking() {
  const client = new ScriptedVoice();
  const converter = {
    written: [] as string[],
    isEnded: false,
    finish: () => {},
    listener: undefined as PieceListener | undefined,
    signal: undefined as AbortSignal | undefined,
  };
  const format: ReturnType<LegAudio["sentenceFormat"]> = {
    name: "converted",
    request: MP3,
    isStreamed: true,
    open: (listener, signal) => {
      Object.assign(converter, { listener, signal });
      return {
        takeAs: () => false,
        write: (chunk) => void converter.written.push(Buffer.from(chunk).toString()),
        end: () => {
          converter.isEnded = true;
          return new Promise<void>((resolve) => (converter.finish = resolve));
        },
      };
    },
  };
  const audio: LegAudio = {
    input: PCM_16K,
    speech: PCM_8K,
    isPaced: true,
    sentenceFormat: () => format,
  };
  const voice = ConvertedVoice.giving(PCM_8K, client, audio);
  const caller = new AbortController();
  const pieces: string[] = [];
  const spoken = voice.synthesize(
    REQUEST,
    (piece) => void pieces.push(Buffer.from(piece).toString()),
    caller.signal,
  );
  const [synthesis] = client.syntheses;
  assert.ok(synthesis);
  return { audio, client, voice, converter, caller, pieces, spoken, synthesis };
}

test("a voice with the line's format is used directly, another one is converted", () => {
  const { audio, client, voice, synthesis, spoken } = speaking();
  assert.equal(ConvertedVoice.giving(MP3, client, audio), client);
  assert.deepEqual(voice.formats, [PCM_8K]);
  let warmed = 0;
  client.warm = () => (warmed += 1);
  voice.warm();
  assert.equal(warmed, 1);
  const { onFormat, ...asked } = synthesis.request;
  assert.deepEqual(asked, { ...REQUEST, format: MP3 });
  assert.equal(onFormat?.(PCM_8K), false);
  spoken.catch(() => undefined);
});

test("a sentence ends when its last piece is converted", async () => {
  const { converter, pieces, spoken, synthesis } = speaking();
  const state = { isOver: false };
  void spoken.then(() => (state.isOver = true));
  synthesis.give(Buffer.from("one"));
  converter.listener?.onPiece(Buffer.from("ONE"), 10);
  synthesis.finish();
  await settled();
  assert.deepEqual([converter.written, converter.isEnded, state.isOver], [["one"], true, false]);
  converter.listener?.onPiece(Buffer.from("END"), 10);
  converter.finish();
  await spoken;
  assert.deepEqual(pieces, ["ONE", "END"]);
});

test("audio that cannot be converted is a bad answer, and its voice is not listened to any longer", async () => {
  const early = speaking();
  const cause = new Error("no MP3");
  early.converter.listener?.onBroken(cause);
  const message = "the audio could not be converted";
  const bad = { name: "VendorError", vendor: "audioPool", fault: "badAnswer", message };
  await assert.rejects(early.spoken, { ...bad, cause });
  assert.deepEqual([early.synthesis.signal.aborted, early.converter.signal?.aborted], [true, true]);
  const late = speaking();
  late.synthesis.finish();
  await settled();
  late.converter.listener?.onBroken(new Error("cut off"));
  late.converter.finish();
  await assert.rejects(late.spoken, bad);
});

test("a voice that fails, or whose caller has gone, ends its conversion too", async () => {
  const failing = speaking();
  const fault = new VendorError("scripted", "timeout", "too late");
  failing.synthesis.fail(fault);
  await assert.rejects(failing.spoken, fault);
  assert.equal(failing.converter.signal?.aborted, true);
  const left = speaking();
  left.caller.abort();
  await assert.rejects(left.spoken, { fault: "aborted" });
  assert.equal(left.converter.signal?.aborted, true);
});
