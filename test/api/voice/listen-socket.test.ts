import assert from "node:assert/strict";
import { test } from "node:test";
import type { BackendSocket, WebSocketRoute } from "../../../api/http/backend/http-backend.js";
import { LISTENER_BACKLOG_BYTES_MAX, ListenSocket } from "../../../api/voice/listen-socket.js";
import type { CallEvent } from "../../../engine/calls/call-events.js";
import type { Watcher } from "../../../engine/calls/topic-subscribers.js";
import { RequestError } from "../../../engine/request-error.js";
import { RecordingLogger } from "../../doubles/recording-logger.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";

const NO_SOUND_MAX_MS = 15_000;
const SOUND: CallEvent = {
  type: "audio",
  callId: "call",
  sampleRateHz: 8_000,
  audio: Buffer.from([1, 2, 3, 4]).toString("base64"),
  isLast: false,
};

/** A listener whose socket is not read by anybody; `listen` stands for the feed. */
async function connected(
  listen: (watcher: Watcher, signal: AbortSignal) => Promise<void> = (_watcher, signal) =>
    new Promise((resolve) => signal.addEventListener("abort", () => resolve())),
  isLimited = false,
) {
  const clock = new VirtualClock();
  const log = new RecordingLogger();
  const sent: (string | Uint8Array)[] = [];
  const closed: (readonly [number, string])[] = [];
  const state = { unreadBytes: 0 };
  const given: { watcher?: Watcher; open?: (token: string) => void } = {};
  const route = new ListenSocket({
    server: {
      webSocket: <Visitor extends object>(_path: string, opened: WebSocketRoute<Visitor>) => {
        given.open = (token) => {
          const request = {
            getMethod: () => "get",
            getHeader: () => "",
            getParameter: () => undefined,
            getQuery: () => token,
            forEach: () => undefined,
          };
          const visitor = opened.admit(request, { getRemoteAddress: () => new ArrayBuffer(4) });
          const socket: BackendSocket<Visitor> = {
            getUserData: () => visitor,
            send: (message) => sent.push(message),
            end: (code, reason) => void closed.push([code, reason]),
            getBufferedAmount: () => state.unreadBytes,
          };
          opened.open(socket);
        };
      },
    },
    edge: { clientAddress: () => "127.0.0.1" },
    listening: {
      listen: (token, watcher, signal) => {
        assert.equal(token, "token");
        given.watcher = watcher;
        return listen(watcher, signal);
      },
    },
    connectionLimiter: { take: () => (isLimited ? 1 : 0) },
    clock,
    log,
  });
  route.listen();
  given.open?.("token");
  await Promise.resolve();
  return {
    clock,
    log,
    sent,
    closed,
    state,
    hear: (event: CallEvent) => given.watcher?.news([event]),
  };
}

test("the format comes first, then sound, and the end of the call closes the stream", async () => {
  const { sent, closed, hear } = await connected();
  hear(SOUND);
  hear(SOUND);
  hear({ ...SOUND, audio: "", isLast: true });
  hear(SOUND);
  const [format, ...sound] = sent;
  assert.deepEqual(JSON.parse(String(format)), {
    type: "format",
    encoding: "mulaw",
    sampleRateHz: 8_000,
    channels: 2,
  });
  assert.deepEqual(
    sound.map((bytes) => [...Buffer.from(bytes)]),
    [
      [1, 2, 3, 4],
      [1, 2, 3, 4],
    ],
  );
  assert.deepEqual(closed, [[1000, "the call has ended"]]);
});

test("a listener that reads too slowly is closed, once", async () => {
  const { sent, closed, state, hear } = await connected();
  state.unreadBytes = LISTENER_BACKLOG_BYTES_MAX;
  hear(SOUND);
  assert.equal(sent.length, 2);
  state.unreadBytes += 1;
  for (let count = 0; count < 3; count += 1) hear(SOUND);
  assert.equal(sent.length, 2);
  assert.deepEqual(closed, [[1013, "the client reads too slowly"]]);
});

test("a call that gives no sound any more closes the stream", async () => {
  const { clock, closed, hear } = await connected();
  clock.advance(NO_SOUND_MAX_MS / 2);
  hear(SOUND);
  clock.advance(NO_SOUND_MAX_MS - 1);
  assert.deepEqual(closed, []);
  clock.advance(NO_SOUND_MAX_MS);
  assert.deepEqual(closed, [[1000, "the call gives no sound any more"]]);
});

test("a refusal closes the stream with its reason, and a fault without", async () => {
  const refused = async (error: unknown, isLimited = false) => {
    const { closed, log } = await connected(() => Promise.reject(error), isLimited);
    await new Promise(setImmediate);
    return { closed, logged: log.lines.length };
  };
  assert.deepEqual(await refused(new RequestError("invalid_token", "token: wrong")), {
    closed: [[4001, "token: wrong"]],
    logged: 0,
  });
  assert.deepEqual(await refused(new RequestError("concurrency_limit_reached", "too many")), {
    closed: [[1013, "too many"]],
    logged: 0,
  });
  assert.deepEqual(await refused(new RequestError("overloaded", "later")), {
    closed: [[1013, "later"]],
    logged: 0,
  });
  assert.deepEqual(await refused(new Error("out of memory")), {
    closed: [[1011, "internal error"]],
    logged: 1,
  });
  assert.deepEqual(await refused(new Error("never asked"), true), {
    closed: [[4029, "too many connections from this address; wait a minute"]],
    logged: 0,
  });
});
