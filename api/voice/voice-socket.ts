import type { CallOpener } from "../../engine/calls/call-opener.js";
import { OpenRefusal } from "../../engine/calls/open-refusal.js";
import type { Logger } from "../../engine/log.js";
import type { Ending } from "../../engine/session/ending.js";
import { WEB_AUDIO } from "../../engine/session/leg-audio.js";
import type { ApiKeys } from "../../engine/tenancy/api-keys.js";
import { accessRefusal, type Tenant } from "../../engine/tenancy/tenant.js";
import type { CancelTimer, Clock } from "../../engine/time/clock.js";
import type { Edge } from "../http/edge.js";
import type { SocketDoor } from "../http/front.js";
import type { RateLimiter } from "../http/rate-limiter.js";
import type { HttpServer } from "../http/server.js";
import {
  CLOSE_CODE_BY_ENDING,
  CLOSE_CODE_BY_REFUSAL,
  CLOSE_INTERNAL_ERROR,
  CLOSE_RATE_LIMITED,
  CLOSE_UNAUTHORIZED,
} from "./close-codes.js";
import { WebLeg } from "./web-leg.js";

/**
 * Beyond the contract's 64 KiB, so that a client that sends too much is told so. A frame beyond this too is not taken in:
 * the library then breaks the connection without a word, and only the call's record says why.
 */
const MESSAGE_BYTES_MAX = 1024 * 1024;
/** A client whose machine vanished is noticed by the pings that this sets going. */
const SILENCE_MAX_SEC = 60;
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
  readonly opener: CallOpener;
  /** Counts connections by the client's address. */
  readonly connectionLimiter: RateLimiter;
  readonly clock: Clock;
  readonly log: Logger;
}

interface Caller {
  readonly address: string;
  readonly apiKey: string;
  readonly agentId: string | undefined;
  readonly historyKey: string | undefined;
  leg: WebLeg | undefined;
}

/** `GET /ws/voice`: browsers and apps that talk with an agent. */
export class VoiceSocket {
  readonly #options: VoiceSocketOptions;
  readonly #legs = new Set<WebLeg>();
  readonly #stopTicking: CancelTimer;
  readonly #onEmpty: (() => void)[] = [];
  #hasToldOfStop = false;

  constructor(options: VoiceSocketOptions) {
    this.#options = options;
    this.#stopTicking = options.clock.every(SILENCE_TICK_MS, () => this.#tick());
    options.server.webSocket("/ws/voice", this.#door());
  }

  close(): void {
    this.#stopTicking();
  }

  /** Whether a client was closed since the server stops: it may not have read that yet. */
  get hasToldOfStop(): boolean {
    return this.#hasToldOfStop;
  }

  /** Resolves when every leg is closed on this side. */
  empty(): Promise<void> {
    if (this.#legs.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#onEmpty.push(resolve));
  }

  #door(): SocketDoor<Caller> {
    return {
      messageBytesMax: MESSAGE_BYTES_MAX,
      silenceMaxSec: SILENCE_MAX_SEC,
      admit: (request, response) => ({
        address: this.#options.edge.clientAddress(response, request),
        apiKey: request.getHeader("x-api-key") || (request.getQuery("api_key") ?? ""),
        agentId: parameter(request.getQuery("agent_id")),
        historyKey: parameter(request.getQuery("session_id")),
        leg: undefined,
      }),
      open: (socket) => {
        const caller = socket.getUserData();
        const leg = new WebLeg(socket);
        caller.leg = leg;
        this.#legs.add(leg);
        void this.#welcome(caller, leg);
      },
      message: (socket, message, isBinary) => {
        if (isBinary) socket.getUserData().leg?.receive(new Uint8Array(message));
      },
      close: (socket, code, reason) => {
        if (code === CLOSE_CODE_BY_ENDING.serverStopping) this.#hasToldOfStop = true;
        const { leg } = socket.getUserData();
        if (leg === undefined) return;
        this.#legs.delete(leg);
        if (this.#legs.size === 0) for (const resolve of this.#onEmpty.splice(0)) resolve();
        leg.socketClosed(reason);
      },
    };
  }

  /** Never rejects: whatever goes wrong closes this one socket, with its reason. */
  async #welcome(caller: Caller, leg: WebLeg): Promise<void> {
    try {
      if (this.#options.connectionLimiter.take(caller.address) > 0) {
        return leg.refuse(
          CLOSE_RATE_LIMITED,
          "too many connections from this address; wait a minute",
        );
      }
      const tenant = await this.#authenticate(caller, leg);
      if (tenant !== undefined) await this.#open(tenant, caller, leg);
    } catch (error) {
      if (error instanceof OpenRefusal) {
        return leg.refuse(CLOSE_CODE_BY_REFUSAL[error.reason], error.message);
      }
      this.#options.log.error({ error }, "a call could not be opened");
      leg.refuse(CLOSE_INTERNAL_ERROR, "internal error");
    }
  }

  async #authenticate({ apiKey }: Caller, leg: WebLeg): Promise<Tenant | undefined> {
    const tenant = apiKey === "" ? undefined : await this.#options.apiKeys.authenticate(apiKey);
    const refusal =
      tenant === undefined
        ? "api_key is missing, wrong or revoked"
        : accessRefusal(tenant, "voice");
    if (refusal === undefined) return tenant;
    leg.refuse(CLOSE_UNAUTHORIZED, refusal);
    return undefined;
  }

  async #open(tenant: Tenant, caller: Caller, leg: WebLeg): Promise<void> {
    const { agentId, historyKey } = caller;
    const request = { tenant, agentId, historyKey, channel: "web", audio: WEB_AUDIO } as const;
    const session = await this.#options.opener.open(
      request,
      leg,
      (opened) => leg.announce(opened),
      leg.gone,
    );
    leg.connect(session);
    if (leg.gone.aborted) session.hangUp();
  }

  #tick(): void {
    for (const leg of this.#legs) {
      if (leg.countSilence() >= SILENT_TICKS_MAX && leg.isOpen) leg.endCall(CALLER_IDLE);
    }
  }
}

function parameter(value: string | undefined): string | undefined {
  if (value === undefined || value === "") return undefined;
  return value.slice(0, PARAMETER_CHARACTERS_MAX);
}
