import assert from "node:assert/strict";
import { test } from "node:test";
import { SentFrames } from "../../../bench/page-sound/sent-frames.js";

const HEAD = Buffer.from("HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\n\r\n");

function frame(opcode: number, payload: Buffer): Buffer {
  if (payload.length < 126) {
    return Buffer.concat([Buffer.from([0x80 | opcode, payload.length]), payload]);
  }
  const head = Buffer.from([0x80 | opcode, 126, 0, 0]);
  head.writeUInt16BE(payload.length, 2);
  return Buffer.concat([head, payload]);
}

const message = (type: string, turnId?: number) =>
  frame(1, Buffer.from(JSON.stringify({ type, turnId })));
const audio = (bytes: number) => frame(2, Buffer.alloc(bytes));

test("each turn's first audio and its stop have the moment at which they came, however they are cut", () => {
  const line = [HEAD, message("connected"), message("audioStart", 3), audio(4_800), audio(70)];
  const bytes = Buffer.concat([...line, message("audioStop"), message("audioStart", 4), audio(9)]);
  for (const cut of [1, 7, 1_000, bytes.length]) {
    let atMs = 0;
    const sent = new SentFrames(() => atMs);
    for (; atMs < bytes.length; atMs += cut) sent.push(bytes.subarray(atMs, atMs + cut));
    const cameAt = (offset: number) => Math.floor(offset / cut) * cut;
    const beforeAudio = Buffer.concat(line.slice(0, 3)).length;
    const stopped = Buffer.concat([...line, message("audioStop")]).length;
    assert.deepEqual(sent.turns, [
      { turnId: 3, firstAudioAtMs: cameAt(beforeAudio + 4), stoppedAtMs: cameAt(stopped - 1) },
      { turnId: 4, firstAudioAtMs: cameAt(bytes.length - 9), stoppedAtMs: undefined },
    ]);
  }
});
