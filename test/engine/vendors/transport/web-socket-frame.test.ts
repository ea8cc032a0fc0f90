import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  binaryFrame,
  type FrameConnection,
  FrameWriter,
} from "../../../../engine/vendors/transport/web-socket.js";

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
    const { connection, written } = recording(true);
    const writer = new FrameWriter(connection);
    for (const value of [1, 2, 3]) writer.write(new Uint8Array(640).fill(value));
    const payloads = written.map((frame) => unmask(Buffer.from(frame))[0]);
    assert.deepEqual(payloads, [1, 2, 3]);
  });

  it("of which the system has not taken the last byte is not overwritten either", () => {
    const { connection, written } = recording(false);
    const writer = new FrameWriter(connection);
    for (const value of [1, 2]) {
      writer.write(new Uint8Array(640).fill(value));
      connection.writableLength = 1;
    }
    assert.deepEqual(unmask(Buffer.from(written[0] ?? [])), Buffer.alloc(640, 1));
  });

  it("that the system took at once gives its memory to the next", () => {
    const { connection, written } = recording(false);
    const writer = new FrameWriter(connection);
    for (const value of [1, 2]) writer.write(new Uint8Array(640).fill(value));
    assert.equal(written[0]?.buffer, written[1]?.buffer);
    assert.deepEqual(unmask(Buffer.from(written[1] ?? [])), Buffer.alloc(640, 2));
  });

  it("that the system took later gives its memory to the next too", () => {
    const { connection, written } = recording(true);
    const writer = new FrameWriter(connection);
    for (const value of [1, 2, 3]) {
      writer.write(new Uint8Array(640).fill(value));
      connection.writableLength = 0;
    }
    assert.equal(new Set(written.map(({ buffer }) => buffer)).size, 1);
  });

  it("that is longer than those before it has room", () => {
    const { connection, written } = recording(false);
    const writer = new FrameWriter(connection);
    for (const length of [160, 640]) writer.write(new Uint8Array(length).fill(length & 0xff));
    assert.deepEqual(unmask(Buffer.from(written[1] ?? [])), Buffer.alloc(640, 640 & 0xff));
  });

  it("of two kibibytes with its header is the largest whose memory is the next one's", () => {
    for (const [length, left] of [
      [2_040, 2],
      [2_041, 1],
    ] as const) {
      const { connection, written } = recording(false);
      const writer = new FrameWriter(connection);
      for (const value of [1, 2]) writer.write(new Uint8Array(length).fill(value));
      assert.equal(unmask(Buffer.from(written[0] ?? []))[0], left, String(length));
    }
  });

  it("larger than the memory that is kept has its own", () => {
    const { connection, written } = recording(false);
    const writer = new FrameWriter(connection);
    for (const value of [1, 2]) writer.write(new Uint8Array(5_000).fill(value));
    assert.deepEqual(unmask(Buffer.from(written[0] ?? [])), Buffer.alloc(5_000, 1));
  });
});

/** A connection that keeps the frames; one that is slow takes none until its `writableLength` is set to zero. */
function recording(isSlow: boolean) {
  const written: Uint8Array[] = [];
  const connection = {
    writableLength: 0,
    write(frame: Uint8Array) {
      written.push(frame);
      if (isSlow) connection.writableLength += frame.length;
    },
  } satisfies FrameConnection;
  return { connection, written };
}
