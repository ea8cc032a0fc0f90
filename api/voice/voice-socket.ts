import type { AudioPool } from "../../engine/audio/audio-pool.js";
import type { CallTerms } from "../../engine/calls/admission.js";
import type { CallOpener } from "../../engine/calls/call-opener.js";
import { callRefusedErrorOf } from "../../engine/calls/call-refused-error.js";
import type { Ending } from "../../engine/conversation/call-end.js";
import { WEB_AUDIO, webStreamAudio } from "../../engine/conversation/leg-audio.js";
import type { Logger } from "../../engine/log.js";
import type { ClientToken } from "../../engine/security/client-token.js";
import type { TokenUseRegistry } from "../../engine/security/token-uses.js";
import type { ApiKeys } from "../../engine/tenancy/people/api-keys.js";
import type { ClientAccess } from "../../engine/tenancy/people/client-access.js";
import { accessRefusal, type Tenant } from "../../engine/tenancy/tenant.js";
import type { CancelTimer, Clock } from "../../engine/time/clock.js";
import type { VoiceErrorCode } from "../../storage/parley-error.js";
import type { WebSocketRoute } from "../http/backend/http-backend.js";
import { shownApiKey } from "../http/request/authentication.js";
import { addressGroup } from "../http/request/client-address.js";
import type { UseLimiter } from "../http/request/rate-limiter.js";
import type { Router } from "../http/router.js";
import type { HttpServer } from "../http/server.js";
import { type AudioMode, audioModeOf, STREAM_FORMATS } from "./audio-mode.js";
import {
  CLOSE_CODE_BY_ENDING,
  CLOSE_CODE_BY_REFUSAL,
  CLOSE_INTERNAL_ERROR,
  CLOSE_POLICY_VIOLATION,
  CLOSE_RATE_LIMITED,
  CLOSE_UNAUTHORIZED,
} from "./close-codes.js";
import { WebLeg } from "./web-leg.js";

/** What a client sends about itself when it connects; empty if it sends nothing. */
export interface VoiceVisitor {
  readonly addressGroup: string;
  readonly apiKey: string;
  readonly token: string;
  /** The page's origin, as its browser reports it: a program can send anything. */
  readonly origin: string;
  readonly agentId: string | undefined;
  readonly historyKey: string | undefined;
}

export interface Refusal {
  readonly closeCode: number;
  readonly code: VoiceErrorCode;
  readonly message: string;
}

/** A client that may call. */
export interface Entry {
  readonly refusal?: undefined;
  readonly tenant: Tenant;
  readonly agentId: string | undefined;
  readonly terms: CallTerms | undefined;
  /** The call is open. */
  opened(historyKey: string): void;
  /** The call could not be opened. */
  failed(): void;
  /** The client has gone. */
  onLeft(): void;
}

export interface CallerAuthenticationOptions {
  readonly apiKeys: Pick<ApiKeys, "authenticate">;
  readonly clientAccess: Pick<ClientAccess, "byToken" | "byOrigin">;
  readonly tokenUses: TokenUseRegistry;
}

/** A household has one or two; more from one address is a program that costs the organization money. */
const PUBLIC_CALLS_AT_ONCE = 3;
const PUBLIC_CALL_MAX_SEC = 600;

/**
 * Decides which clients may call by the voice WebSocket: with an API key, with a client token, or from an origin
 * where an agent is public.
 */
export class CallerAuthentication {
  readonly #options: CallerAuthenticationOptions;
  readonly #uses: TokenUseRegistry;
  /** Calls without key or token, by the caller's address. */
  readonly #publicCalls = new Map<string, number>();

  constructor(options: CallerAuthenticationOptions) {
    this.#options = options;
    this.#uses = options.tokenUses;
  }

  async admit(visitor: VoiceVisitor): Promise<Entry | { readonly refusal: Refusal }> {
    if (visitor.apiKey !== "") return this.#byKey(visitor);
    if (visitor.token !== "") return this.#byToken(visitor);
    return this.#byOrigin(visitor);
  }

  async #byKey({ apiKey, agentId }: VoiceVisitor) {
    const tenant = await this.#options.apiKeys.authenticate(apiKey);
    if (tenant === undefined)
      return unauthorized("invalid_api_key", "api_key is missing, wrong or revoked");
    return refusalOf(tenant) ?? entry({ tenant, agentId });
  }

  async #byToken({ token: text, origin, agentId, historyKey }: VoiceVisitor) {
    const visit = await this.#options.clientAccess.byToken(text, origin);
    if (typeof visit === "string") return unauthorized("invalid_token", `token: ${visit}`);
    const { tenant, token } = visit;
    if (agentId !== undefined && agentId !== visit.agentId) {
      return unauthorized("invalid_token", "token: the token is for another agent");
    }
    const refusal = refusalOf(tenant);
    if (refusal !== undefined || token === undefined)
      return refusal ?? unauthorized("invalid_token", "token: wrong");
    const used = await this.#uses.take(token, historyKey);
    if (used !== undefined) return unauthorized("invalid_token", `token: ${used}`);
    return entry({
      tenant,
      agentId: visit.agentId,
      terms: { ...token, isOneConversation: true },
      ...this.#usesOf(token),
    });
  }

  async #byOrigin({ agentId, origin, addressGroup }: VoiceVisitor) {
    const { clientAccess } = this.#options;
    const visit = agentId === undefined ? undefined : await clientAccess.byOrigin(agentId, origin);
    if (visit === undefined)
      return unauthorized("unauthenticated", "api_key is missing, wrong or revoked");
    const refusal = refusalOf(visit.tenant);
    if (refusal !== undefined) return refusal;
    const count = this.#publicCalls.get(addressGroup) ?? 0;
    if (count >= PUBLIC_CALLS_AT_ONCE) {
      return refused(
        CLOSE_RATE_LIMITED,
        "concurrency_limit_reached",
        "too many calls at once from this address",
      );
    }
    this.#publicCalls.set(addressGroup, count + 1);
    const { tenant } = visit;
    const terms = { callMaxSec: PUBLIC_CALL_MAX_SEC, variables: {} };
    return entry({ tenant, agentId, terms, onLeft: () => this.#publicCallLeft(addressGroup) });
  }

  #usesOf(token: ClientToken): Pick<Entry, "opened" | "failed"> {
    return {
      opened: (historyKey) => this.#uses.opened(token, historyKey),
      failed: () => this.#uses.release(token),
    };
  }

  #publicCallLeft(addressGroup: string): void {
    const count = (this.#publicCalls.get(addressGroup) ?? 1) - 1;
    if (count === 0) this.#publicCalls.delete(addressGroup);
    else this.#publicCalls.set(addressGroup, count);
  }
}

function entry(parts: Pick<Entry, "tenant" | "agentId"> & Partial<Entry>): Entry {
  const nothing = () => {};
  return { terms: undefined, opened: nothing, failed: nothing, onLeft: nothing, ...parts };
}

function refusalOf(tenant: Tenant) {
  const refusal = accessRefusal(tenant, "voice");
  return refusal === undefined ? undefined : unauthorized(refusal.code, refusal.message);
}

function unauthorized(code: VoiceErrorCode, message: string) {
  return refused(CLOSE_UNAUTHORIZED, code, message);
}

function refused(closeCode: number, code: VoiceErrorCode, message: string) {
  return { refusal: { closeCode, code, message } } as const;
}

/**
 * Above the contract's 64 KiB, so that a client that sends too much gets an error. A frame beyond this limit is
 * not read: uWebSockets.js then closes the connection without a message, and only the call's record says why.
 */
const MESSAGE_BYTES_MAX = 1024 * 1024;
/** A client whose machine vanished is detected by the pings that this enables. */
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
  readonly edge: Router;
  readonly apiKeys: ApiKeys;
  readonly clientAccess: ClientAccess;
  readonly opener: CallOpener;
  readonly isClosed: () => boolean;
  readonly audioPool: () => AudioPool;
  /** Which client tokens were used. */
  readonly tokenUses: TokenUseRegistry;
  /** Counts connections by the client's address. */
  readonly connectionLimiter: UseLimiter;
  readonly clock: Clock;
  readonly log: Logger;
}

interface Caller extends VoiceVisitor {
  readonly audioMode: AudioMode;
  leg: WebLeg | undefined;
}

/** `GET /ws/voice`: browsers and apps that talk to an agent. */
export class VoiceSocket {
  readonly #options: VoiceSocketOptions;
  readonly #entrance: CallerAuthentication;
  readonly #legs = new Set<WebLeg>();
  readonly #stopTicking: CancelTimer;
  readonly #onEmpty: (() => void)[] = [];
  #hasAnnouncedStop = false;

  constructor(options: VoiceSocketOptions) {
    this.#options = options;
    this.#entrance = new CallerAuthentication(options);
    this.#stopTicking = options.clock.every(SILENCE_TICK_MS, () => this.#tick());
    options.server.webSocket("/ws/voice", this.#route());
  }

  close(): void {
    this.#stopTicking();
  }

  /** Whether a client was closed since the server began to stop: it may not have read that yet. */
  get hasAnnouncedStop(): boolean {
    return this.#hasAnnouncedStop;
  }

  /** Resolves when every leg is closed on this side. */
  empty(): Promise<void> {
    if (this.#legs.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#onEmpty.push(resolve));
  }

  #route(): WebSocketRoute<Caller> {
    return {
      messageBytesMax: MESSAGE_BYTES_MAX,
      silenceMaxSec: SILENCE_MAX_SEC,
      isClosed: this.#options.isClosed,
      admit: (request, response) => ({
        addressGroup: addressGroup(this.#options.edge.clientAddress(response, request)),
        apiKey: shownApiKey((name) => request.getHeader(name), request.getQuery("api_key") ?? ""),
        token: request.getQuery("token") ?? "",
        origin: request.getHeader("origin"),
        agentId: parameter(request.getQuery("agent_id")),
        historyKey: parameter(request.getQuery("session_id")),
        audioMode: audioModeOf(request.getQuery("audio"), request.getQuery("encoding")),
        leg: undefined,
      }),
      open: (socket) => {
        const caller = socket.getUserData();
        const { audioMode } = caller;
        const leg = new WebLeg(
          socket,
          audioMode.type === "stream" ? audioMode.encoding : undefined,
        );
        caller.leg = leg;
        this.#legs.add(leg);
        void this.#welcome(caller, leg);
      },
      message: (socket, message, isBinary) => {
        const { leg } = socket.getUserData();
        const bytes = new Uint8Array(message);
        if (isBinary) leg?.receive(bytes);
        else leg?.receiveText(bytes);
      },
      refused: (socket) => socket.getUserData().leg?.receiveTooMuch(),
      drained: (socket) => socket.getUserData().leg?.drained(),
      close: (socket, code, reason) => {
        if (code === CLOSE_CODE_BY_ENDING.serverStopping) this.#hasAnnouncedStop = true;
        const { leg } = socket.getUserData();
        if (leg === undefined) return;
        this.#legs.delete(leg);
        if (this.#legs.size === 0) for (const resolve of this.#onEmpty.splice(0)) resolve();
        leg.socketClosed(reason);
      },
    };
  }

  /** Never rejects: an error closes this one socket, with its reason. */
  async #welcome(caller: Caller, leg: WebLeg): Promise<void> {
    try {
      if ((await this.#options.connectionLimiter.take(caller.addressGroup)) > 0) {
        return leg.refuse(
          CLOSE_RATE_LIMITED,
          "rate_limited",
          "too many connections from this address; wait a minute",
        );
      }
      const entry = await this.#entrance.admit(caller);
      if (entry.refusal === undefined) return await this.#enter(entry, caller, leg);
      const { closeCode, code, message } = entry.refusal;
      leg.refuse(closeCode, code, message);
    } catch (error) {
      const refusal = callRefusedErrorOf(error);
      if (refusal !== undefined) {
        const { reason, message: detail } = refusal;
        // A client with the organization's key may know its plan; visitors of a page may not.
        const isOwner = caller.apiKey !== "";
        if (!isOwner) this.#options.log.info({ reason, detail }, "a web call was refused");
        const code = isOwner ? refusal.code : refusal.callerCode;
        const words = isOwner ? detail : refusal.callerWords;
        return leg.refuse(CLOSE_CODE_BY_REFUSAL[reason], code, words);
      }
      this.#options.log.error({ error }, "a call could not be opened");
      leg.refuse(CLOSE_INTERNAL_ERROR, "internal_error", "internal error");
    }
  }

  async #enter(entry: Entry, caller: Caller, leg: WebLeg): Promise<void> {
    if (leg.closed.aborted) entry.onLeft();
    else leg.closed.addEventListener("abort", () => entry.onLeft(), { once: true });
    try {
      await this.#open(entry, caller, leg);
    } catch (error) {
      entry.failed();
      throw error;
    }
  }

  async #open(entry: Entry, caller: Caller, leg: WebLeg): Promise<void> {
    const { historyKey, audioMode } = caller;
    const { tenant, agentId, terms } = entry;
    if (audioMode.type === "unknown") {
      entry.failed();
      return leg.refuse(CLOSE_POLICY_VIOLATION, "invalid_request", audioMode.fault);
    }
    const audio =
      audioMode.type === "stream"
        ? webStreamAudio(STREAM_FORMATS[audioMode.encoding], () =>
            this.#options.audioPool().of(tenant.organization.id),
          )
        : WEB_AUDIO;
    const request = { tenant, agentId, historyKey, channel: "web", audio, terms } as const;
    const session = await this.#options.opener.open(
      request,
      leg,
      (opened) => {
        entry.opened(opened.historyKey);
        leg.announce(opened);
      },
      leg.closed,
    );
    leg.connect(session);
    if (leg.closed.aborted) session.hangUp();
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
