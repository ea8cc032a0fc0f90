import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { beforeEach, describe, it } from "node:test";
import { VendorError } from "../../../../engine/vendors/contracts.js";
import { postStream, type StreamLimits } from "../../../../engine/vendors/transport/http-stream.js";
import { faultOfStatus, refusal } from "../../../../engine/vendors/vendor-fault.js";
import { Changes } from "../../../doubles/changes.js";
import { passInUndici } from "../../../doubles/undici-clock.js";
import { eventually, never } from "../sandboxed-vendors.js";
import { ScriptedWebServer } from "../scripted-web-server.js";
import { webServerStand } from "../web-server-stand.js";

const LIMITS: StreamLimits = {
  firstByteMs: 1_000,
  betweenBytesMs: 500,
  totalMs: 3_000,
  replyMaxBytes: 1_000,
};

describe("a streamed request", () => {
  const stand = webServerStand(false);
  let received: string[];
  let refusedBodies: string[];
  /** Tells of each piece that is received. */
  let changes: Changes;

  beforeEach(() => {
    received = [];
    refusedBodies = [];
    changes = new Changes();
  });

  function post(
    isWhole: (text: string) => boolean = () => false,
    origin = stand.server.url,
    signal = never(),
  ): Promise<void> {
    return postStream(
      {
        vendor: "test",
        dispatcher: stand.connections.for(false),
        clock: stand.clock,
        origin,
        path: "/",
        headers: {},
        body: "{}",
        limits: LIMITS,
        refuse: (answer) => {
          refusedBodies.push(answer.body);
          const detail = { code: undefined, message: answer.body };
          return refusal("test", faultOfStatus(answer.status), answer, detail, undefined);
        },
      },
      (chunk) => {
        received.push(chunk.toString());
        changes.tell();
        return isWhole(chunk.toString());
      },
      signal,
    );
  }

  it("resolves at the message's end, before the body's, ignores later data and keeps the connection", async () => {
    stand.server.answer = (response) => {
      response.write("done");
      response.write("more");
      setImmediate(() => response.end());
    };
    await post((text) => text === "done");
    await eventually(
      () => stand.connections.hasIdle(stand.server.url, false),
      "the idle connection",
    );
    assert.deepEqual(received, ["done"]);
    assert.equal(stand.clock.pendingTimerCount, 0);
  });

  it("breaks the connection when the body does not end after the message", async () => {
    const closed = new Promise<void>((resolve) => {
      stand.server.answer = (response) => {
        response.write("done");
        response.on("close", resolve);
      };
    });
    await post((text) => text === "done");
    stand.clock.advance(1_000);
    await closed;
    assert.equal(stand.clock.pendingTimerCount, 0);
  });

  it("waits longer for the first byte than for the next ones, by no other clock than its own", async () => {
    let say: (text: string) => void = () => undefined;
    stand.server.answer = (response) => {
      say = (text) => response.write(text);
    };
    const posted = post();
    posted.catch(() => undefined);
    await eventually(() => stand.server.requests.length === 1, "the request");
    passInUndici(3_600_000);
    stand.clock.advance(999);
    say("0");
    await eventually(() => received.length === 1, "the first chunk");
    passInUndici(3_600_000);
    stand.clock.advance(499);
    say("1");
    await eventually(() => received.length === 2, "the second chunk");
    stand.clock.advance(500);
    await assert.rejects(posted, { fault: "timeout", message: "test: the answer stalled" });
  });

  it("leaves no listener on the signal of the continuing call", async () => {
    const { signal } = new AbortController();
    stand.server.answer = (response) => response.end("done");
    for (const isWhole of [true, false]) {
      await post(() => isWhole, stand.server.url, signal);
      assert.deepEqual(getEventListeners(signal, "abort"), []);
    }
  });

  it("is cut when it says something now and then but never ends", async () => {
    let say: (text: string) => void = () => undefined;
    stand.server.answer = (response) => {
      say = (text) => response.write(text);
      say("0");
    };
    const posted = post();
    posted.catch(() => undefined);
    for (let n = 1; n <= 7; n++) {
      await changes.until(`chunk ${n}`, () => received.length === n);
      stand.clock.advance(400);
      say(String(n));
    }
    await changes.until("the last chunk", () => received.length === 8);
    stand.clock.advance(200);
    await assert.rejects(posted, { fault: "timeout" });
    assert.equal(received.length, 8);
  });

  it("is cut when the answer is larger than it may be", async () => {
    stand.server.answer = (response) => response.end("x".repeat(LIMITS.replyMaxBytes + 1));
    await assert.rejects(post(), { fault: "badAnswer" });
    assert.ok(received.join("").length <= LIMITS.replyMaxBytes);
  });

  it("keeps only the beginning of a long refusal, in one short line", async () => {
    stand.server.answer = (response) => {
      response.writeHead(503);
      response.end(`line one\nline two ${"x".repeat(5_000_000)}`);
    };
    const error: unknown = await post().catch((cause: unknown) => cause);
    assert.ok(error instanceof VendorError);
    assert.equal(error.fault, "unavailable");
    assert.equal(error.message, "test answered 503");
    assert.match(error.vendorText ?? "", /^line one line two x+…$/);
    assert.ok((error.vendorText?.length ?? 0) < 320);
    assert.deepEqual(new Set(refusedBodies.map(({ length }) => length)), new Set([16 * 1024]));
  });

  it("reports a refusal whose body stalls or breaks by its status", async () => {
    stand.server.answer = (response) => {
      response.writeHead(401);
      response.write("no");
    };
    const stalled = post();
    stalled.catch(() => undefined);
    await stand.server.changes.until("the request", () => stand.server.requests.length === 1);
    stand.clock.advance(1_000);
    stand.clock.advance(1_000);
    await assert.rejects(stalled, (error) => error instanceof VendorError);
    stand.server.answer = (response) => {
      response.writeHead(401, { "content-length": "100" });
      response.write("no", () => response.destroy());
    };
    await assert.rejects(post(), { fault: "unauthorized", status: 401 });
  });

  it("asks nothing in a call that has ended", async () => {
    const posted = post(undefined, stand.server.url, AbortSignal.abort());
    await assert.rejects(posted, { fault: "aborted", message: "test: aborted" });
    await post();
    assert.equal(stand.server.requests.length, 1);
  });

  it("does not follow a redirect", async () => {
    stand.server.answer = (response) => {
      response.writeHead(302, { location: "http://169.254.169.254/" }).end();
    };
    await assert.rejects(post(), { fault: "refused", status: 302 });
  });

  it("distinguishes a vendor that is down from one that disconnects", async () => {
    const closed = new ScriptedWebServer();
    await closed.start();
    const { url } = closed;
    await closed.close();
    await assert.rejects(post(undefined, url), { fault: "unavailable", message: /ECONNREFUSED/ });
    stand.server.answer = (response) => response.destroy();
    await assert.rejects(post(), { fault: "disconnected" });
  });

  it("fails as unavailable after the connections were closed", async () => {
    await stand.connections.close();
    await assert.rejects(post(), { fault: "unavailable" });
    assert.equal(stand.clock.pendingTimerCount, 0);
  });

  for (const [header, value, expectedMs] of [
    ["retry-after", "2", 2_000],
    ["retry-after-ms", "150", 150],
    ["retry-after", "999999999", 3_600_000],
    ["retry-after", "soon", undefined],
    ["retry-after", new Date(1_800_000_005_000).toUTCString(), 5_000],
  ] as const) {
    it(`understands ${header}: ${value}`, async () => {
      stand.server.answer = (response) => response.writeHead(429, { [header]: value }).end();
      const error: unknown = await post().catch((cause: unknown) => cause);
      assert.ok(error instanceof VendorError);
      assert.equal(error.retryAfterMs, expectedMs);
    });
  }
});
