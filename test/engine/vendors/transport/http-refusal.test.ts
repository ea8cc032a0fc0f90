import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import { VendorError } from "../../../../engine/vendors/contracts.js";
import { Connections } from "../../../../engine/vendors/transport/connections.js";
import {
  postStream,
  type RefusedAnswer,
} from "../../../../engine/vendors/transport/http-stream.js";
import type { AnswerHeaders } from "../../../../engine/vendors/vendor-fault.js";
import { ToldClock } from "../../../doubles/told-clock.js";
import { eventually, never } from "../sandboxed-vendors.js";
import { ScriptedWebServer } from "../scripted-web-server.js";

const ERROR_BODY_MAX_BYTES = 16 * 1024;
const DRAIN_TIMEOUT_MS = 1_000;
const LIMITS = { firstByteMs: 1_000, betweenBytesMs: 500, totalMs: 3_000, replyMaxBytes: 1_000 };

describe("a request that is refused, broken off or given up", () => {
  let clock: ToldClock;
  let server: ScriptedWebServer;
  let connections: Connections;
  /** The answers that were refused. */
  const refused: RefusedAnswer[] = [];
  const acceptedStatuses: number[] = [];
  let accept = (_headers: AnswerHeaders, status: number) => void acceptedStatuses.push(status);

  beforeEach(async () => {
    clock = new ToldClock();
    server = new ScriptedWebServer();
    await server.start();
    connections = new Connections({ clock, allowPrivateAddresses: false });
    refused.length = 0;
    acceptedStatuses.length = 0;
  });

  afterEach(async () => {
    await connections.close();
    await server.close();
  });

  function post(
    onData: (chunk: Buffer) => boolean = () => false,
    signal = never(),
    limits = LIMITS,
  ) {
    const posted = postStream(
      {
        vendor: "test",
        dispatcher: connections.for(false),
        clock,
        origin: server.url,
        path: "/",
        headers: {},
        body: "{}",
        limits,
        accept,
        refuse: (answer) => {
          refused.push(answer);
          return new VendorError("test", "refused", "no", { status: answer.status });
        },
      },
      onData,
      signal,
    );
    posted.catch(() => undefined);
    return posted;
  }

  /** The first byte of an answer has come. */
  async function untilByte(): Promise<void> {
    await clock.changes.until("a byte", () => clock.startedTimerCount > 1);
  }

  it("is refused as soon as enough of the reason has arrived, though the vendor continues", async () => {
    server.answer = (response) => {
      response.writeHead(503).write("x".repeat(ERROR_BODY_MAX_BYTES));
    };
    await assert.rejects(post(), { status: 503 });
    assert.equal(refused[0]?.body, "x".repeat(ERROR_BODY_MAX_BYTES));
    assert.equal(refused[0].nowMs, clock.epochMs());
  });

  it("waits for the rest of a shorter reason, as long as for any next byte", async () => {
    server.answer = (response) => {
      response.writeHead(401).write("x".repeat(ERROR_BODY_MAX_BYTES - 1));
    };
    const posted = post();
    await untilByte();
    clock.advance(LIMITS.betweenBytesMs - 1);
    assert.equal(refused.length, 0);
    clock.advance(1);
    await assert.rejects(posted, { fault: "refused", status: 401 });
    assert.ok((refused[0]?.body.length ?? Infinity) < ERROR_BODY_MAX_BYTES);
    assert.equal(clock.pendingTimerCount, 0);
  });

  it("is accepted up to a status of 299, and after an early hint", async () => {
    for (const [status, isTaken] of [
      [200, true],
      [299, true],
      [300, false],
    ] as const) {
      server.answer = (response) => {
        response.writeEarlyHints({ link: "</a>; rel=preload" });
        response.writeHead(status).end("all");
      };
      const heard: string[] = [];
      const posted = post((chunk) => heard.push(chunk.toString()) < 0);
      await (isTaken ? posted : assert.rejects(posted, { status }));
      assert.deepEqual(heard, isTaken ? ["all"] : [], String(status));
    }
    assert.deepEqual(acceptedStatuses, [200, 299]);
  });

  it("is not sent when it was aborted before there was a connection", async () => {
    const ending = new AbortController();
    const posted = post(undefined, ending.signal);
    ending.abort();
    await assert.rejects(posted, { fault: "aborted" });
    await post();
    assert.equal(server.requests.length, 1);
  });

  it("is aborted in the middle of its response, though that would have been all", async () => {
    server.answer = (response) => {
      response.write("all");
    };
    const ending = new AbortController();
    const posted = post(() => {
      ending.abort();
      return true;
    }, ending.signal);
    await assert.rejects(posted, { fault: "aborted" });
    assert.equal(clock.pendingTimerCount, 0);
  });

  it("rejects with an exception of the response's handler, unchanged if it is an error", async () => {
    server.answer = (response) => response.end("all");
    const broken = new RangeError("broken");
    for (const [thrown, told] of [
      [broken, broken],
      ["a word", { name: "Error", message: "a word" }],
    ] as const) {
      const fail = (): never => {
        throw thrown;
      };
      await assert.rejects(post(fail), told);
      const before = accept;
      accept = fail;
      await assert.rejects(post(), told);
      accept = before;
    }
  });

  it("times out though the next byte might have a longer limit than the first", async () => {
    server.answer = () => undefined;
    const posted = post(undefined, never(), { ...LIMITS, firstByteMs: 400 });
    clock.advance(399);
    assert.equal(clock.pendingTimerCount, 1);
    clock.advance(1);
    await assert.rejects(posted, { fault: "timeout", message: "test: no answer in time" });
    assert.equal(clock.pendingTimerCount, 0);
  });

  it("fails like a lost connection where asking throws, and leaves no timer", async (context) => {
    const cause = new Error("broken");
    context.mock.method(connections.for(false), "dispatch", () => {
      throw cause;
    });
    await assert.rejects(post(), {
      fault: "disconnected",
      message: "test: connection failed",
      cause,
    });
    assert.equal(clock.pendingTimerCount, 0);
  });

  for (const [what, isBroken] of [
    ["ends", false],
    ["breaks off", true],
  ] as const) {
    it(`keeps no timer for a body that ${what} after its message`, async () => {
      let end: () => void = () => undefined;
      server.answer = (response) => {
        response.write("all");
        end = () => void (isBroken ? response.destroy() : response.end());
      };
      await post(() => true);
      assert.equal(clock.pendingTimerCount, 1);
      clock.advance(DRAIN_TIMEOUT_MS - 1);
      assert.equal(clock.pendingTimerCount, 1);
      end();
      await eventually(() => clock.pendingTimerCount === 0, "its timer to be gone");
    });
  }
});
