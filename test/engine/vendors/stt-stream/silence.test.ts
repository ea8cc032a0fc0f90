import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import { MULAW_8K } from "../../../../engine/audio/audio-format.js";
import type { SpeechStream } from "../../../../engine/vendors/contracts.js";
import {
  BYTES_PER_MS,
  FRAME_BYTES,
  finalResults,
  LISTENING,
  OPENING_BYTES,
  ScriptedDeepgram,
} from "../deepgram/scripted-deepgram.js";
import { bytesOf } from "../scripted-socket-server.js";

const QUIET_PIECE_MS = 200;

const PIECE_FRAMES = QUIET_PIECE_MS / 20;
/** Endpointing of 200 ms and 800 ms more; the frame that fills them already waits. */
const FRAMES_AFTER_SPEECH = 49;
const KEPT_BYTES = 8_000 * BYTES_PER_MS;

const silent = () => new Uint8Array(FRAME_BYTES);
const loud = () => new Uint8Array(FRAME_BYTES).fill(8);

describe("a silent caller at Deepgram", () => {
  let scripted: ScriptedDeepgram;
  let stream: SpeechStream;
  let peer: Awaited<ReturnType<ScriptedDeepgram["server"]["peer"]>>;

  beforeEach(async () => {
    scripted = new ScriptedDeepgram();
    await scripted.server.start();
    stream = await scripted.open();
    peer = await scripted.server.peer(0);
  });

  afterEach(async () => {
    stream.close();
    await scripted.close();
  });

  function write(count: number, frame: () => Uint8Array): void {
    for (let written = 0; written < count; written += 1) stream.write(frame());
  }

  /** Sizes of the messages behind the opening silence, once they are all there. */
  async function messages(count: number): Promise<number[]> {
    await scripted.changes.until(`${count} messages`, () => peer.binaries.length === count + 1);
    return peer.binaries.slice(1).map(({ length }) => length);
  }

  it("is sent in pieces, without a byte missing", async () => {
    write(2 * PIECE_FRAMES + 1, silent);
    stream.write(loud());
    const piece = PIECE_FRAMES * FRAME_BYTES;
    assert.deepEqual(await messages(3), [piece, piece, 2 * FRAME_BYTES]);
    assert.deepEqual([...(peer.binaries[3] ?? [])], [...silent(), ...loud()]);
  });

  it("is heard at the first sound, and frame by frame while words may still end", async () => {
    write(1, loud);
    write(FRAMES_AFTER_SPEECH, silent);
    const single = Array.from({ length: FRAMES_AFTER_SPEECH + 1 }, () => FRAME_BYTES);
    assert.deepEqual(await messages(FRAMES_AFTER_SPEECH + 1), single);
    write(PIECE_FRAMES, silent);
    const all = [...single, PIECE_FRAMES * FRAME_BYTES];
    assert.deepEqual(await messages(FRAMES_AFTER_SPEECH + 2), all);
  });

  it("is sent in pieces as soon as the vendor has reported the end of speech, and no sooner", async () => {
    const told = async (text: string) => {
      const count = scripted.listener.transcripts.length + 1;
      peer.socket.send(
        JSON.stringify({ ...JSON.parse(finalResults(text, 0, 0.1)), speech_final: true }),
      );
      await scripted.changes.until("words", () => scripted.listener.transcripts.length === count);
    };
    write(1, silent);
    write(1, loud);
    await told("before");
    write(2, silent);
    await told("");
    write(2, silent);
    await told("word");
    write(PIECE_FRAMES + 1, silent);
    write(2, loud);
    const single = [2, 1, 1, 1, 1].map((frames) => frames * FRAME_BYTES);
    const rest = [PIECE_FRAMES, 2, 1].map((frames) => frames * FRAME_BYTES);
    assert.deepEqual(await messages(8), [...single, ...rest]);
  });

  it("is sent to its last byte before the end mark", async () => {
    write(2, silent);
    const finished = stream.finish();
    await scripted.changes.until("the end mark", () => peer.texts.length === 1);
    assert.equal(bytesOf(peer), OPENING_BYTES + 2 * FRAME_BYTES);
    scripted.clock.advance(2_000);
    await finished;
  });

  it("loses what waits to a frame as long as the memory, and not the time", async () => {
    write(2, silent);
    stream.write(new Uint8Array(KEPT_BYTES).fill(8));
    // No message is longer than 800 ms.
    assert.deepEqual(
      await messages(10),
      Array.from({ length: 10 }, () => KEPT_BYTES / 10),
    );
    peer.socket.send(finalResults("word", 1, 1.5));
    await scripted.changes.until("the words", () => scripted.listener.transcripts.length === 1);
    assert.equal(peer.binaries.length, 11, "and no empty one, which would end the stream");
    const openingMs = OPENING_BYTES / BYTES_PER_MS;
    const expectedMs = 1_500 - openingMs + 40;
    assert.equal(scripted.listener.transcripts[0]?.lastWordEndMs, expectedMs);
  });

  it("is distinguished from speech in µ-law too", async () => {
    const mulaw = await scripted.open({ ...LISTENING, format: MULAW_8K });
    const other = await scripted.server.peer(1);
    // 0xff and 0x7f are zero; the next steps of both signs are noise, 0x80 and 0x00 are as loud as it gets.
    const noise = Uint8Array.from({ length: 160 }, (_, at) => (at % 2 === 0 ? 0xf0 : 0x70));
    mulaw.write(noise);
    for (const code of [0x80, 0x00]) mulaw.write(new Uint8Array(160).fill(code));
    await scripted.changes.until("three messages", () => other.binaries.length === 3);
    assert.deepEqual(
      other.binaries.slice(1).map(({ length }) => length),
      [320, 160],
    );
    mulaw.close();
  });
});
