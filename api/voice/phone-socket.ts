import type { Logger } from "../../engine/log.js";
import type { StreamClaims, StreamTokenRegistry } from "../../engine/security/stream-token.js";
import { DEFAULT_PHONE_VENDOR, phoneVendor } from "../../engine/telephony/phone-vendors.js";
import type {
  PhoneEvent,
  PhoneWire,
  StreamIds,
  StreamStarted,
} from "../../engine/telephony/phone-wire.js";
import type { CancelTimer, Clock } from "../../engine/time/clock.js";
import type { BackendSocket, HttpRequest, WebSocketRoute } from "../http/backend/http-backend.js";
import type { HttpServer } from "../http/server.js";
import { CLOSE_UNAUTHORIZED } from "./close-codes.js";
import { type PhoneCalls, refusedFormat } from "./phone-calls.js";
import type { PhoneLeg } from "./phone-leg.js";
import { STREAM_PATH } from "./stream-address.js";

const MESSAGE_BYTES_MAX = 128 * 1024;
const SILENCE_MAX_SEC = 60;
/** A vendor sends `start` within milliseconds of connecting. */
const START_MAX_MS = 10_000;

export interface PhoneSocketOptions {
  readonly server: HttpServer;
  readonly phoneCalls: PhoneCalls;
  readonly isClosed: () => boolean;
  readonly streamTokens: StreamTokenRegistry;
  readonly clock: Clock;
  readonly log: Logger;
}

interface Stream {
  readonly vendor: string;
  /** From the address; empty if the vendor has it in its start message. */
  readonly token: string;
  readonly wire: PhoneWire | undefined;
  leg: PhoneLeg | undefined;
  cancelStart: CancelTimer | undefined;
}

/** `GET /ws/telephony/stream` for Twilio, `/ws/telephony/stream/<vendor>` for the others: calls on the telephone. */
export class PhoneSocket {
  readonly #options: PhoneSocketOptions;

  constructor(options: PhoneSocketOptions) {
    this.#options = options;
  }

  listen(): void {
    const { server } = this.#options;
    server.webSocket(
      STREAM_PATH,
      this.#route(() => DEFAULT_PHONE_VENDOR),
    );
    server.webSocket(
      `${STREAM_PATH}/:vendor`,
      this.#route((request) => request.getParameter(0) ?? ""),
    );
  }

  #route(vendorOf: (request: HttpRequest) => string): WebSocketRoute<Stream> {
    return {
      messageBytesMax: MESSAGE_BYTES_MAX,
      silenceMaxSec: SILENCE_MAX_SEC,
      isClosed: this.#options.isClosed,
      admit: (request) => {
        const vendor = vendorOf(request);
        const known = phoneVendor(vendor);
        const token = known?.hasTokenInAddress === true ? request.getQuery("token") : undefined;
        return {
          vendor,
          token: token ?? "",
          wire: known?.newWire?.(),
          leg: undefined,
          cancelStart: undefined,
        };
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
        stream.leg?.socketClosed();
      },
    };
  }

  #opened(socket: BackendSocket<Stream>): void {
    const stream = socket.getUserData();
    if (stream.wire === undefined) {
      socket.end(CLOSE_UNAUTHORIZED, "there is no such telephony vendor");
      return;
    }
    stream.cancelStart = this.#options.clock.after(START_MAX_MS, () => {
      socket.end(CLOSE_UNAUTHORIZED, "the stream did not start");
    });
  }

  #take(socket: BackendSocket<Stream>, event: PhoneEvent): void {
    const stream = socket.getUserData();
    if (event.type === "started") this.#started(socket, stream, event);
    else if (event.type === "unsupported") this.#refuse(socket, stream, event);
    else stream.leg?.take(event);
  }

  #started(socket: BackendSocket<Stream>, stream: Stream, started: StreamStarted): void {
    stream.cancelStart?.();
    const { wire, vendor } = stream;
    if (wire === undefined || stream.leg !== undefined) return;
    const format = refusedFormat(started);
    if (format !== undefined) return this.#refuse(socket, stream, { ...started, format });
    const redeem = () => this.#redeem(started, stream);
    stream.leg = this.#options.phoneCalls.startLeg({ vendor, socket, wire, started, redeem });
  }

  #refuse(
    socket: BackendSocket<Stream>,
    stream: Stream,
    offered: StreamIds & { readonly format: string },
  ): void {
    stream.cancelStart?.();
    const { wire, vendor } = stream;
    if (wire === undefined || stream.leg !== undefined) return;
    const redeem = () => this.#redeem(offered, stream);
    this.#options.phoneCalls.refuseFormat({ vendor, socket, wire, redeem }, offered);
  }

  async #redeem(
    { parameters, callId }: StreamIds,
    stream: Stream,
  ): Promise<StreamClaims | undefined> {
    const { vendor, token } = stream;
    const isNamed = callId !== "" || phoneVendor(vendor)?.alwaysNamesCall === true;
    const presented = isNamed ? { vendor, callerRef: callId } : { vendor };
    const { claims, refusal } = await this.#options.streamTokens.redeem(
      parameters["token"] ?? token,
      presented,
    );
    if (refusal !== undefined) this.#options.log.warn({ refusal }, "a media stream was refused");
    return claims;
  }
}
