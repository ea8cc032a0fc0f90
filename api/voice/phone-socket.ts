import type { AudioPool } from "../../engine/audio/audio-pool.js";
import { Pacer } from "../../engine/audio/pacer.js";
import type { OutboundCalls } from "../../engine/calls/outbound-calls.js";
import type { Logger } from "../../engine/log.js";
import type { StreamTokens } from "../../engine/security/stream-token.js";
import { phoneLine } from "../../engine/session/line-audio.js";
import { OpenRefusal } from "../../engine/session/open-refusal.js";
import type { Session } from "../../engine/session/session.js";
import type { SessionOpener } from "../../engine/session/session-opener.js";
import type { Organizations } from "../../engine/tenancy/organizations.js";
import type { Tenant } from "../../engine/tenancy/tenant.js";
import type { CancelTimer, Clock } from "../../engine/time/clock.js";
import type { HttpRequest, HttpServer, WebSocket, WebSocketBehavior } from "../http/server.js";
import { CLOSE_CODE_BY_REFUSAL, CLOSE_INTERNAL_ERROR, CLOSE_UNAUTHORIZED } from "./close-codes.js";
import { PLACED_CALL_PARAMETER } from "./outbound-doors.js";
import { PhoneLine } from "./phone-line.js";
import { STREAM_PATH } from "./stream-address.js";
import type { PhoneEvent, PhoneWire, StreamStarted } from "./telephony/adapter.js";
import { DEFAULT_PHONE_VENDOR, phoneVendor } from "./telephony/phone-vendors.js";

const MESSAGE_BYTES_MAX = 128 * 1024;
const PING_AFTER_SEC = 60;
/** A vendor says `start` within milliseconds of connecting. */
const START_MAX_MS = 10_000;
const LINE_RATE_HZ = 8_000;

export interface PhoneSocketOptions {
  readonly server: HttpServer;
  readonly organizations: Organizations;
  readonly opener: SessionOpener;
  readonly streamTokens: StreamTokens;
  readonly outbound: Pick<OutboundCalls, "connect">;
  readonly audioPool: () => AudioPool;
  /** Hands a call on; absent where the vendor's REST API is not configured. */
  readonly transfer?: ((vendor: string, callRef: string, to: string) => Promise<void>) | undefined;
  readonly clock: Clock;
  readonly log: Logger;
}

interface Stream {
  readonly vendor: string;
  readonly wire: PhoneWire | undefined;
  line: PhoneLine | undefined;
  cancelStart: CancelTimer | undefined;
}

/** `GET /ws/telephony/stream` for Twilio, `/ws/telephony/stream/<vendor>` for the others: calls on the telephone. */
export class PhoneSocket {
  readonly #options: PhoneSocketOptions;
  readonly #pacer: Pacer;

  constructor(options: PhoneSocketOptions) {
    this.#options = options;
    this.#pacer = new Pacer(options.clock, (error) => {
      options.log.error(
        { error },
        "audio could not be sent to a telephone; the call's line is closed",
      );
    });
  }

  listen(): void {
    const { server } = this.#options;
    server.webSocket(
      STREAM_PATH,
      this.#behavior(() => DEFAULT_PHONE_VENDOR),
    );
    server.webSocket(
      `${STREAM_PATH}/:vendor`,
      this.#behavior((request) => request.getParameter(0) ?? ""),
    );
  }

  #behavior(vendorOf: (request: HttpRequest) => string): WebSocketBehavior<Stream> {
    return {
      maxPayloadLength: MESSAGE_BYTES_MAX,
      idleTimeout: PING_AFTER_SEC,
      sendPingsAutomatically: true,
      maxBackpressure: 0,
      upgrade: (response, request, context) => {
        const vendor = vendorOf(request);
        const wire = phoneVendor(vendor)?.newWire();
        response.upgrade(
          { vendor, wire, line: undefined, cancelStart: undefined },
          request.getHeader("sec-websocket-key"),
          firstProtocol(request.getHeader("sec-websocket-protocol")),
          request.getHeader("sec-websocket-extensions"),
          context,
        );
      },
      open: (socket) => this.#opened(socket),
      message: (socket, message, isBinary) => {
        const { wire } = socket.getUserData();
        if (wire === undefined) return;
        for (const event of wire.fromWire(Buffer.from(message), isBinary)) {
          this.#take(socket, event);
        }
      },
      close: (socket) => {
        const stream = socket.getUserData();
        stream.cancelStart?.();
        stream.line?.socketClosed();
      },
    };
  }

  #opened(socket: WebSocket<Stream>): void {
    const stream = socket.getUserData();
    if (stream.wire === undefined) {
      socket.end(CLOSE_UNAUTHORIZED, "there is no such telephony vendor");
      return;
    }
    stream.cancelStart = this.#options.clock.after(START_MAX_MS, () => {
      socket.end(CLOSE_UNAUTHORIZED, "the stream did not start");
    });
  }

  #take(socket: WebSocket<Stream>, event: PhoneEvent): void {
    const stream = socket.getUserData();
    if (event.type === "started") this.#started(socket, stream, event);
    else stream.line?.take(event);
  }

  #started(socket: WebSocket<Stream>, stream: Stream, started: StreamStarted): void {
    stream.cancelStart?.();
    const { wire, vendor } = stream;
    if (wire === undefined || stream.line !== undefined) return;
    const line = new PhoneLine(socket, wire, this.#pacer, (to) =>
      this.#transfer(vendor, started, to),
    );
    stream.line = line;
    if (started.sampleRateHz !== LINE_RATE_HZ) {
      return line.close(CLOSE_INTERNAL_ERROR, "only audio at 8 kHz is taken");
    }
    void this.#welcome(line, started);
  }

  /** Never rejects: whatever goes wrong ends this one call, with its reason. */
  async #welcome(line: PhoneLine, started: StreamStarted): Promise<void> {
    const { outbound, log } = this.#options;
    try {
      const claims = this.#redeem(started);
      const tenant = claims === undefined ? undefined : await this.#tenant(claims.orgId);
      if (claims === undefined || tenant === undefined) {
        return line.close(CLOSE_UNAUTHORIZED, "the stream's token is missing, wrong or used");
      }
      const callId = started.parameters[PLACED_CALL_PARAMETER];
      const open = () => this.#open(line, tenant, claims.agentId, callId);
      const session =
        callId === undefined ? await open() : await outbound.connect(callId, claims.orgId, open);
      if (session === undefined) return line.close(CLOSE_UNAUTHORIZED, "the placed call is over");
      line.connect(session);
      if (line.gone.aborted) session.hangUp();
    } catch (error) {
      if (error instanceof OpenRefusal) {
        return line.close(CLOSE_CODE_BY_REFUSAL[error.reason], error.message);
      }
      log.error({ error }, "a telephone call could not be opened");
      line.close(CLOSE_INTERNAL_ERROR, "internal error");
    }
  }

  #open(
    line: PhoneLine,
    tenant: Tenant,
    agentId: string,
    placedCallId: string | undefined,
  ): Promise<Session> {
    const { opener, audioPool } = this.#options;
    const request = {
      tenant,
      agentId: agentId === "" ? undefined : agentId,
      historyKey: undefined,
      channel: "phone",
      line: phoneLine(line.encoding, audioPool),
      placedCallId,
    } as const;
    return opener.open(request, line, ({ tap }) => line.observe(tap), line.gone);
  }

  #redeem({ parameters, callId }: StreamStarted) {
    const presented = callId === "" ? {} : { callerRef: callId };
    const { claims, refusal } = this.#options.streamTokens.redeem(
      parameters["token"] ?? "",
      presented,
    );
    if (refusal !== undefined) this.#options.log.warn({ refusal }, "a media stream was refused");
    return claims;
  }

  async #tenant(orgId: string): Promise<Tenant | undefined> {
    const found = await this.#options.organizations.find(orgId);
    if (found === undefined || found.organization.status !== "active") return undefined;
    return { ...found, userId: undefined, apiKeyId: undefined, scopes: ["voice"] };
  }

  async #transfer(vendor: string, { callId }: StreamStarted, to: string): Promise<void> {
    const { transfer, log } = this.#options;
    if (transfer === undefined || callId === "") {
      log.warn({ vendor }, "a call cannot be transferred: the vendor's account is not configured");
      return;
    }
    try {
      await transfer(vendor, callId, to);
    } catch (error) {
      log.error({ vendor, error }, "a call could not be transferred");
    }
  }
}

/** Clients that offer protocols break off unless one is chosen. */
function firstProtocol(offered: string): string {
  return offered.split(",")[0]?.trim() ?? "";
}
