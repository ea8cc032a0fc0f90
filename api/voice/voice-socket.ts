import type { AudioPool } from "../../engine/audio/audio-pool.js";
import type { CallOpener } from "../../engine/calls/opening/call-opener.js";
import { openRefusalOf } from "../../engine/calls/opening/open-refusal.js";
import type { Ending } from "../../engine/conversation/call-end.js";
import { WEB_AUDIO, webStreamAudio } from "../../engine/conversation/leg-audio.js";
import type { Logger } from "../../engine/log.js";
import type { TokenUseDesk } from "../../engine/security/token-uses.js";
import type { ApiKeys } from "../../engine/tenancy/people/api-keys.js";
import type { ClientAccess } from "../../engine/tenancy/people/client-access.js";
import type { CancelTimer, Clock } from "../../engine/time/clock.js";
import type { SocketDoor } from "../http/backend/http-backend.js";
import { shownApiKey } from "../http/request/authentication.js";
import { addressGroup } from "../http/request/client-address.js";
import type { UseLimiter } from "../http/request/rate-limiter.js";
import type { Edge } from "../http/router.js";
import type { HttpServer } from "../http/server.js";
import { type AudioMode, audioModeOf, STREAM_FORMATS } from "./audio-mode.js";
import {
  CLOSE_CODE_BY_ENDING,
  CLOSE_CODE_BY_REFUSAL,
  CLOSE_INTERNAL_ERROR,
  CLOSE_POLICY_VIOLATION,
  CLOSE_RATE_LIMITED,
} from "./close-codes.js";
import { type Entry, VoiceEntrance, type VoiceVisitor } from "./voice-entrance.js";
import { WebLeg } from "./web-leg.js";

/**
 * Beyond the contract's 64 KiB, so that a client that sends too much is told so. A frame beyond this too is not taken in:
 * uWebSockets.js then breaks the connection without a word, and only the call's record says why.
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
  readonly clientAccess: ClientAccess;
  readonly opener: CallOpener;
  readonly isClosed: () => boolean;
  readonly audioPool: () => AudioPool;
  /** Which of the pages' tokens were used. */
  readonly tokenUses: TokenUseDesk;
  /** Counts connections by the client's address. */
  readonly connectionLimiter: UseLimiter;
  readonly clock: Clock;
  readonly log: Logger;
}

interface Caller extends VoiceVisitor {
  readonly audioMode: AudioMode;
  leg: WebLeg | undefined;
}

/** `GET /ws/voice`: browsers and apps that talk with an agent. */
export class VoiceSocket {
  readonly #options: VoiceSocketOptions;
  readonly #entrance: VoiceEntrance;
  readonly #legs = new Set<WebLeg>();
  readonly #stopTicking: CancelTimer;
  readonly #onEmpty: (() => void)[] = [];
  #hasToldOfStop = false;

  constructor(options: VoiceSocketOptions) {
    this.#options = options;
    this.#entrance = new VoiceEntrance(options);
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
      if ((await this.#options.connectionLimiter.take(caller.addressGroup)) > 0) {
        return leg.refuse(
          CLOSE_RATE_LIMITED,
          "too many connections from this address; wait a minute",
        );
      }
      const entry = await this.#entrance.admit(caller);
      if (entry.refusal === undefined) return await this.#enter(entry, caller, leg);
      leg.refuse(entry.refusal.code, entry.refusal.message);
    } catch (error) {
      const refusal = openRefusalOf(error);
      if (refusal !== undefined) {
        const { reason, message: detail, callerWords } = refusal;
        // Who has the organization's key may know its plan; visitors of a page may not.
        const isOwner = caller.apiKey !== "";
        if (!isOwner) this.#options.log.info({ reason, detail }, "a web call was refused");
        return leg.refuse(CLOSE_CODE_BY_REFUSAL[reason], isOwner ? detail : callerWords);
      }
      this.#options.log.error({ error }, "a call could not be opened");
      leg.refuse(CLOSE_INTERNAL_ERROR, "internal error");
    }
  }

  async #enter(entry: Entry, caller: Caller, leg: WebLeg): Promise<void> {
    if (leg.gone.aborted) entry.left();
    else leg.gone.addEventListener("abort", () => entry.left(), { once: true });
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
      return leg.refuse(CLOSE_POLICY_VIOLATION, audioMode.fault);
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
