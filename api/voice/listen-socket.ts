import type { InferOutput } from "valibot";
import type { CallEvent } from "../../engine/calls/call-events.js";
import type { CallListening } from "../../engine/calls/call-listening.js";
import type { Logger } from "../../engine/log.js";
import { RequestError } from "../../engine/request-error.js";
import type { Clock } from "../../engine/time/clock.js";
import type { RequestErrorCode } from "../../storage/parley-error.js";
import { LISTEN_PATH, type ListenFormat } from "../contract/listen-protocol.js";
import type { BackendSocket, WebSocketRoute } from "../http/backend/http-backend.js";
import { addressGroup } from "../http/request/client-address.js";
import type { UseLimiter } from "../http/request/rate-limiter.js";
import type { Router } from "../http/router.js";
import type { HttpServer } from "../http/server.js";
import {
  CLOSE_INTERNAL_ERROR,
  CLOSE_POLICY_VIOLATION,
  CLOSE_RATE_LIMITED,
  CLOSE_UNAUTHORIZED,
} from "./close-codes.js";

const CLOSE_CALL_OVER = 1000;
const CLOSE_TRY_AGAIN = 1013;
const CLOSE_CODES: ReadonlyMap<RequestErrorCode, number> = new Map([
  ["invalid_token", CLOSE_UNAUTHORIZED],
  ["concurrency_limit_reached", CLOSE_TRY_AGAIN],
  ["overloaded", CLOSE_TRY_AGAIN],
]);
/** Some eight seconds of sound that the client has not read. */
export const LISTENER_BACKLOG_BYTES_MAX = 256 * 1024;
/** A call whose server is gone gives no sound, and no end. */
const NO_SOUND_MAX_MS = 15_000;
/** Browsers answer pings; clients have nothing to say. */
const SILENCE_MAX_SEC = 60;
const MESSAGE_BYTES_MAX = 1_024;

interface Listener {
  readonly token: string;
  readonly addressGroup: string;
  readonly left: AbortController;
}

export interface ListenSocketOptions {
  readonly server: Pick<HttpServer, "webSocket">;
  readonly edge: Pick<Router, "clientAddress">;
  readonly listening: Pick<CallListening, "listen">;
  readonly connectionLimiter: UseLimiter;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The WebSocket of those who listen in on a call. One that reads too slowly is closed; the call never waits for it. */
export class ListenSocket {
  readonly #options: ListenSocketOptions;

  constructor(options: ListenSocketOptions) {
    this.#options = options;
  }

  listen(): void {
    this.#options.server.webSocket(LISTEN_PATH, this.#route());
  }

  #route(): WebSocketRoute<Listener> {
    return {
      messageBytesMax: MESSAGE_BYTES_MAX,
      silenceMaxSec: SILENCE_MAX_SEC,
      admit: (request, response) => ({
        token: request.getQuery("token") ?? "",
        addressGroup: addressGroup(this.#options.edge.clientAddress(response, request)),
        left: new AbortController(),
      }),
      open: (socket) => void this.#stream(socket),
      message: () => undefined,
      close: (socket) => socket.getUserData().left.abort(),
    };
  }

  /** Never rejects: whatever goes wrong closes this one socket, with its reason. */
  async #stream(socket: BackendSocket<Listener>): Promise<void> {
    const { listening, connectionLimiter, clock, log } = this.#options;
    const { token, addressGroup: address, left } = socket.getUserData();
    const close = (code: number, reason: string): void => {
      if (left.signal.aborted) return;
      left.abort();
      socket.end(code, reason);
    };
    const sound = new ListenerSound(socket, close);
    let heardAtMs = clock.monotonicMs();
    const stopWatching = clock.every(NO_SOUND_MAX_MS, () => {
      if (clock.monotonicMs() - heardAtMs >= NO_SOUND_MAX_MS) {
        close(CLOSE_CALL_OVER, "the call gives no sound any more");
      }
    });
    try {
      if ((await connectionLimiter.take(address)) > 0) {
        return close(CLOSE_RATE_LIMITED, "too many connections from this address; wait a minute");
      }
      const watcher = {
        news: (news: readonly CallEvent[]) => {
          heardAtMs = clock.monotonicMs();
          for (const event of news) sound.send(event);
        },
        pulse: () => undefined,
      };
      await listening.listen(token, watcher, left.signal);
      close(CLOSE_CALL_OVER, "listen again for more");
    } catch (error) {
      if (error instanceof RequestError) {
        return close(CLOSE_CODES.get(error.code) ?? CLOSE_POLICY_VIOLATION, error.message);
      }
      log.error({ error }, "a call could not be listened to");
      close(CLOSE_INTERNAL_ERROR, "internal error");
    } finally {
      stopWatching();
    }
  }
}

class ListenerSound {
  readonly #socket: BackendSocket<Listener>;
  readonly #close: (code: number, reason: string) => void;
  #hasFormat = false;

  constructor(socket: BackendSocket<Listener>, close: (code: number, reason: string) => void) {
    this.#socket = socket;
    this.#close = close;
  }

  send(event: CallEvent): void {
    if (event.type !== "audio" || this.#socket.getUserData().left.signal.aborted) return;
    if (event.isLast) return this.#close(CLOSE_CALL_OVER, "the call has ended");
    if (this.#socket.getBufferedAmount() > LISTENER_BACKLOG_BYTES_MAX) {
      return this.#close(CLOSE_TRY_AGAIN, "the client reads too slowly");
    }
    if (!this.#hasFormat) this.#sendFormat(event.sampleRateHz);
    this.#socket.send(Buffer.from(event.audio, "base64"), true);
  }

  #sendFormat(sampleRateHz: number): void {
    this.#hasFormat = true;
    const format: InferOutput<typeof ListenFormat> = {
      type: "format",
      encoding: "mulaw",
      sampleRateHz,
      channels: 2,
    };
    this.#socket.send(JSON.stringify(format), false);
  }
}
