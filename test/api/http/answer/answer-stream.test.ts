import assert from "node:assert/strict";
import { connect } from "node:net";
import { type TestContext, test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { StreamedAnswer } from "../../../../api/http/answer/answer.js";
import { STREAM_BACKLOG_BYTES_MAX } from "../../../../api/http/request-context.js";
import { EdgeOnLoopback, endpoint } from "../edge-on-loopback.js";

const GET = "GET /api/thing HTTP/1.1\r\nhost: x\r\n\r\n";

async function started(
  t: TestContext,
  produce: StreamedAnswer["produce"],
): Promise<EdgeOnLoopback> {
  const answer = async () => ({ status: 200, contentType: "text/event-stream", produce });
  const edge = await EdgeOnLoopback.start([endpoint({ answer })]);
  t.after(() => edge.close());
  return edge;
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await nextTurn();
}

function gone(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve());
  });
}

test("a streamed response arrives while it is produced, and its connection serves the next request", async (t) => {
  let goesOn = false;
  const { client } = await started(t, async (write) => {
    write("first ");
    await until(() => goesOn);
    write("second ");
    write("third");
  });
  const beginning = await client.exchange(GET, /first /);
  assert.match(beginning, /^HTTP\/1\.1 200 OK\r\n[^]*content-type: text\/event-stream\r\n/);
  assert.doesNotMatch(beginning, /second/);
  goesOn = true;
  for (const _request of ["one", "next"]) {
    assert.equal((await client.get("/api/thing")).text, "first second third");
  }
});

test("a streamed response without text is empty", async (t) => {
  const { client } = await started(t, async () => undefined);
  assert.equal((await client.get("/api/thing")).text, "");
});

test("a client that disconnects stops the producer of its response, and leaves no resources behind", async (t) => {
  let signalSeen: AbortSignal | undefined;
  const { port, server, logger } = await started(t, async (write, signal) => {
    signalSeen = signal;
    write("first");
    await gone(signal);
    write("too late");
  });
  const socket = connect(port, "127.0.0.1");
  socket.write(GET);
  await new Promise((resolve) => socket.once("data", resolve));
  assert.equal(server.openRequestCount, 1);
  socket.destroy();
  await until(() => server.openRequestCount === 0);
  assert.equal(signalSeen?.aborted, true);
  await nextTurn();
  assert.deepEqual(
    logger.lines.map(({ fields }) => fields["status"]),
    [499],
  );
});

test("a client that disconnects before its response begins gets none", async (t) => {
  let release = () => {};
  let asked = false;
  let isAborted = false;
  let isProduced = false;
  const edge = await EdgeOnLoopback.start([
    endpoint({
      answer: async ({ signal }) => {
        asked = true;
        await new Promise<void>((resolve) => {
          release = resolve;
        });
        isAborted = signal.aborted;
        const produce = async () => {
          isProduced = true;
        };
        return { status: 200, contentType: "text/plain", produce };
      },
    }),
  ]);
  t.after(() => edge.close());
  const socket = connect(edge.port, "127.0.0.1");
  socket.write(GET);
  await until(() => asked);
  socket.destroy();
  await until(() => edge.server.openRequestCount === 0);
  release();
  await nextTurn();
  assert.deepEqual([isAborted, isProduced], [true, false]);
});

test("a client that does not read is dropped at the limit of unread data", async (t) => {
  const chunk = "x".repeat(64 * 1024);
  let writtenBytes = 0;
  const { port, server, logger } = await started(t, async (write, signal) => {
    while (!signal.aborted) {
      write(chunk);
      writtenBytes += chunk.length;
      await nextTurn();
    }
  });
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => undefined);
  socket.pause();
  socket.write(GET);
  await until(() => writtenBytes > 0 && server.openRequestCount === 0);
  // The data that the system has buffered is added.
  assert.ok(writtenBytes > STREAM_BACKLOG_BYTES_MAX);
  assert.ok(writtenBytes < 64 * 1024 * 1024, String(writtenBytes));
  assert.equal(logger.ofLevel("info")[0]?.fields["status"], 499);
  socket.destroy();
});

test("a client that reads can receive more than the limit of unread data", async (t) => {
  const chunk = "x".repeat(64 * 1024);
  const { client } = await started(t, async (write) => {
    for (let count = 0; count < 64; count += 1) {
      write(chunk);
      // Written more slowly than the client reads, as every vendor does.
      await client.get("/api/nothing");
    }
  });
  assert.equal((await client.get("/api/thing")).text.length, 64 * chunk.length);
});

test("a response that fails in the middle is aborted, so that it does not look complete", async (t) => {
  const { client, server, logger } = await started(t, async (write) => {
    write("half");
    await nextTurn();
    throw new Error("the other half is lost");
  });
  const text = await client.exchange(GET);
  assert.match(text, /half/);
  assert.doesNotMatch(text, /\r\n0\r\n\r\n$/);
  assert.equal(server.openRequestCount, 0);
  assert.equal(logger.ofLevel("error").length, 1);
});
