import assert from "node:assert/strict";
import { connect } from "node:net";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { EdgeOnLoopback, endpoint } from "../edge-on-loopback.js";

const GET = "GET /api/thing HTTP/1.1\r\nhost: x\r\n\r\n";
const PACE = { backlogBytesMax: 64 * 1024 * 1024, filler: "" };

function paced(produce: (write: (text: string) => void) => Promise<void>) {
  return endpoint({
    answer: async () => ({ status: 200, contentType: "text/plain", pace: PACE, produce }),
  });
}

test("a large text arrives complete, even if a character is split across two pieces", async (t) => {
  for (const padding of ["", "x", "xx"]) {
    const text = padding + "é😀".repeat(400_000);
    let isRead = () => {};
    const read = new Promise<void>((resolve) => {
      isRead = resolve;
    });
    const edge = await EdgeOnLoopback.start([
      paced(async (write) => {
        write(text);
        await read;
      }),
    ]);
    t.after(() => edge.close());
    const parts: Buffer[] = [];
    const socket = connect(edge.port, "127.0.0.1");
    const answered = new Promise<void>((resolve) => {
      socket.on("data", (part: Buffer) => {
        parts.push(part);
        // More than the text itself, because of the head and the lengths of its pieces.
        if (Buffer.concat(parts).length > Buffer.byteLength(text)) isRead();
        if (part.subarray(-5).toString() === "0\r\n\r\n") resolve();
      });
    });
    socket.write(GET);
    await answered;
    socket.destroy();
    const received = withoutChunks(Buffer.concat(parts));
    assert.equal(received.length, Buffer.byteLength(text));
    assert.ok(received.equals(Buffer.from(text)));
  }
});

test("text that is written before the end is sent with it", async (t) => {
  const edge = await EdgeOnLoopback.start([
    paced(async (write) => {
      write("first ");
      await nextTurn();
      write("last");
    }),
  ]);
  t.after(() => edge.close());
  assert.equal((await edge.client.get("/api/thing")).text, "first last");
});

function withoutChunks(answer: Buffer): Buffer {
  const chunks: Buffer[] = [];
  let at = answer.indexOf("\r\n\r\n") + 4;
  for (;;) {
    const end = answer.indexOf("\r\n", at);
    const length = Number.parseInt(answer.toString("latin1", at, end), 16);
    if (end === -1 || length === 0) return Buffer.concat(chunks);
    chunks.push(answer.subarray(end + 2, end + 2 + length));
    at = end + 2 + length + 2;
  }
}
