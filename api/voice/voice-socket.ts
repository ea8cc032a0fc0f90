import type { Logger } from "../../engine/log.js";
import type { Ending } from "../../engine/session/ending.js";
import { WEB_LINE } from "../../engine/session/line-audio.js";
import { OpenRefusal } from "../../engine/session/open-refusal.js";
import type { SessionOpener } from "../../engine/session/session-opener.js";
import type { ApiKeys } from "../../engine/tenancy/api-keys.js";
import { accessRefusal, type Tenant } from "../../engine/tenancy/tenant.js";
import type { CancelTimer, Clock } from "../../engine/time/clock.js";
import type { Edge } from "../http/edge.js";
import type { RateLimiter } from "../http/rate-limiter.js";
import type { HttpServer, WebSocketBehavior } from "../http/server.js";
import { CallerLine } from "./caller-line.js";
import {
  CLOSE_CODE_BY_ENDING,
  CLOSE_CODE_BY_REFUSAL,
  CLOSE_INTERNAL_ERROR,
  CLOSE_RATE_LIMITED,
  CLOSE_UNAUTHORIZED,
} from "./close-codes.js";

/**
 * Beyond the contract's 64 KiB, so that a client that sends too much is told so. A frame beyond this too is not taken in:
 * the library then breaks the connection without a word, and only the call's record says why.
 */
const MESSAGE_BYTES_MAX = 1024 * 1024;
/** A client whose machine vanished is noticed by the pings that this sets going. */
const PING_AFTER_SEC = 60;
const SILENCE_TICK_MS = 5_000;
/** A minute without a single frame: the microphone is gone, and the call costs money. */
const SILENT_TICKS_MAX = 12;
const PARAMETER_CHARACTERS_MAX = 200;

const CALLER_IDLE: Ending = {
  reason: "callerIdle",
  status: "completed",
  message: "no audio was received for 60 seconds",
};

export interface VoiceSocketOptions {
  readonly server: HttpServer;
  readonly edge: Edge;
  readonly apiKeys: ApiKeys;
  readonly opener: SessionOpener;
  /** By client address. */
  readonly connectionLimiter: RateLimiter;
  readonly clock: Clock;
  readonly log: Logger;
}

interface Caller {
  readonly address: string;
  readonly apiKey: string;
  readonly agentId: string | undefined;
  readonly historyKey: string | undefined;
  line: CallerLine | undefined;
}

/** `GET /ws/voice`: browsers and apps that talk with an agent. */
export class VoiceSocket {
  readonly #options: VoiceSocketOptions;
  readonly #lines = new Set<CallerLine>();
  readonly #stopTicking: CancelTimer;
  readonly #onEmpty: (() => void)[] = [];
  #hasToldOfStop = false;

  constructor(options: VoiceSocketOptions) {
    this.#options = options;
    this.#stopTicking = options.clock.every(SILENCE_TICK_MS, () => this.#tick());
    options.server.webSocket("/ws/voice", this.#behavior());
  }

  close(): void {
    this.#stopTicking();
  }

  /** Whether a client was closed since the server stops: it may not have read that yet. */
  get hasToldOfStop(): boolean {
    return this.#hasToldOfStop;
  }

  /** Resolves when every line is closed on this side. */
  empty(): Promise<void> {
    if (this.#lines.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#onEmpty.push(resolve));
  }

  #behavior(): WebSocketBehavior<Caller> {
    return {
      maxPayloadLength: MESSAGE_BYTES_MAX,
      idleTimeout: PING_AFTER_SEC,
      sendPingsAutomatically: true,
      // The line itself watches what is not read, and says why it closes.
      maxBackpressure: 0,
      upgrade: (response, request, context) => {
        const caller: Caller = {
          address: this.#options.edge.clientAddress(response, request),
          apiKey: request.getHeader("x-api-key") || (request.getQuery("api_key") ?? ""),
          agentId: parameter(request.getQuery("agent_id")),
          historyKey: parameter(request.getQuery("session_id")),
          line: undefined,
        };
        response.upgrade(
          caller,
          request.getHeader("sec-websocket-key"),
          request.getHeader("sec-websocket-protocol"),
          request.getHeader("sec-websocket-extensions"),
          context,
        );
      },
      open: (socket) => {
        const caller = socket.getUserData();
        const line = new CallerLine(socket);
        caller.line = line;
        this.#lines.add(line);
        void this.#welcome(caller, line);
      },
      message: (socket, message, isBinary) => {
        if (isBinary) socket.getUserData().line?.receive(new Uint8Array(message));
      },
      close: (socket, code, message) => {
        if (code === CLOSE_CODE_BY_ENDING.serverStopping) this.#hasToldOfStop = true;
        const { line } = socket.getUserData();
        if (line === undefined) return;
        this.#lines.delete(line);
        if (this.#lines.size === 0) for (const resolve of this.#onEmpty.splice(0)) resolve();
        line.socketClosed(Buffer.from(message).toString());
      },
    };
  }

  /** Never rejects: whatever goes wrong closes this one socket, with its reason. */
  async #welcome(caller: Caller, line: CallerLine): Promise<void> {
    try {
      if (this.#options.connectionLimiter.take(caller.address) > 0) {
        return line.refuse(
          CLOSE_RATE_LIMITED,
          "too many connections from this address; wait a minute",
        );
      }
      const tenant = await this.#authenticate(caller, line);
      if (tenant !== undefined) await this.#open(tenant, caller, line);
    } catch (error) {
      if (error instanceof OpenRefusal) {
        return line.refuse(CLOSE_CODE_BY_REFUSAL[error.reason], error.message);
      }
      this.#options.log.error({ error }, "a call could not be opened");
      line.refuse(CLOSE_INTERNAL_ERROR, "internal error");
    }
  }

  async #authenticate({ apiKey }: Caller, line: CallerLine): Promise<Tenant | undefined> {
    const tenant = apiKey === "" ? undefined : await this.#options.apiKeys.authenticate(apiKey);
    const refusal =
      tenant === undefined
        ? "api_key is missing, wrong or revoked"
        : accessRefusal(tenant, "voice");
    if (refusal === undefined) return tenant;
    line.refuse(CLOSE_UNAUTHORIZED, refusal);
    return undefined;
  }

  async #open(tenant: Tenant, caller: Caller, line: CallerLine): Promise<void> {
    const { agentId, historyKey } = caller;
    const request = { tenant, agentId, historyKey, channel: "web", line: WEB_LINE } as const;
    const session = await this.#options.opener.open(
      request,
      line,
      (opened) => line.announce(opened),
      line.gone,
    );
    line.connect(session);
    if (line.gone.aborted) session.hangUp();
  }

  #tick(): void {
    for (const line of this.#lines) {
      if (line.countSilence() >= SILENT_TICKS_MAX && line.isOpen) line.endCall(CALLER_IDLE);
    }
  }
}

function parameter(value: string | undefined): string | undefined {
  if (value === undefined || value === "") return undefined;
  return value.slice(0, PARAMETER_CHARACTERS_MAX);
}
