import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  binaryFrame,
  type FrameConnection,
  writeBinaryFrame,
} from "../../../../engine/vendors/transport/web-socket-frame.js";

/** Takes a frame apart as RFC 6455, section 5.2, describes it. */
function unmask(frame: Buffer): Buffer {
  assert.equal(frame[0], 0x82);
  const short = (frame[1] ?? 0) & 0x7f;
  assert.equal((frame[1] ?? 0) >> 7, 1);
  const length =
    short === 127
      ? Number(frame.readBigUInt64BE(2))
      : short === 126
        ? frame.readUInt16BE(2)
        : short;
  const keyAt = short === 127 ? 10 : short === 126 ? 4 : 2;
  assert.equal(frame.length, keyAt + 4 + length);
  const key = frame.subarray(keyAt, keyAt + 4);
  return Buffer.from(frame.subarray(keyAt + 4).map((byte, n) => byte ^ (key[n & 3] ?? 0)));
}

describe("a binary WebSocket frame", () => {
  for (const length of [0, 1, 125, 126, 640, 65_535, 65_536, 200_000]) {
    it(`of ${length} bytes holds them, in the shortest form`, () => {
      const payload = Buffer.from(Uint8Array.from({ length }, (_, n) => n * 31));
      const frame = binaryFrame(payload);
      assert.deepEqual(unmask(frame), payload);
      assert.equal(frame.length - length, length < 126 ? 6 : length < 65_536 ? 8 : 14);
    });
  }

  it("is masked with a key that changes", () => {
    const keys = new Set<string>();
    for (let n = 0; n < 4_000; n++) {
      keys.add(binaryFrame(Uint8Array.of(1)).subarray(2, 6).toString("hex"));
    }
    assert.ok(keys.size > 3_990);
  });

  it("that the system has not taken is not overwritten by the next", () => {
    const written: Uint8Array[] = [];
    const slow: FrameConnection = {
      writableLength: 1,
      write: (frame) => written.push(frame),
    };
    for (const value of [1, 2, 3]) writeBinaryFrame(slow, new Uint8Array(640).fill(value));
    const payloads = written.map((frame) => unmask(Buffer.from(frame))[0]);
    assert.deepEqual(payloads, [1, 2, 3]);
  });

  it("that the system has taken gives its memory to the next", () => {
    const written: Uint8Array[] = [];
    const fast: FrameConnection = { writableLength: 0, write: (frame) => written.push(frame) };
    for (const value of [1, 2]) writeBinaryFrame(fast, new Uint8Array(640).fill(value));
    assert.equal(written[0]?.buffer, written[1]?.buffer);
    assert.deepEqual(unmask(Buffer.from(written[1] ?? [])), Buffer.alloc(640, 2));
  });

  it("larger than the shared memory has its own", () => {
    const written: Uint8Array[] = [];
    const fast: FrameConnection = { writableLength: 0, write: (frame) => written.push(frame) };
    writeBinaryFrame(fast, new Uint8Array(5_000).fill(1));
    writeBinaryFrame(fast, new Uint8Array(5_000).fill(2));
    assert.deepEqual(unmask(Buffer.from(written[0] ?? [])), Buffer.alloc(5_000, 1));
  });
});
