import { WavReader } from "../../engine/audio/audio-container.js";
import { frameBytesOf, PHONE_RATE_HZ, silenceByte } from "../../engine/audio/audio-format.js";
import { type PacedStream, Pacer } from "../../engine/audio/pacer.js";
import { decodeSamples, encodeSamples } from "../../engine/audio/sample-coding.js";
import type { Continuations, PersonClaims } from "../../engine/calls/continuations.js";
import type { WarmTransfers } from "../../engine/calls/warm-transfers.js";
import type { Logger } from "../../engine/log.js";
import { phoneVendor } from "../../engine/telephony/phone-vendors.js";
import type { PhoneEvent, PhoneWire, WireFrame } from "../../engine/telephony/phone-wire.js";
import type { CancelTimer, Clock } from "../../engine/time/clock.js";
import type { BackendSocket, WebSocketRoute } from "../http/backend/http-backend.js";
import type { HttpServer } from "../http/server.js";
import { CLOSE_UNAUTHORIZED } from "./close-codes.js";
import { refusedFormat } from "./phone-calls.js";

/** The path of the streams in which persons of warm transfers are briefed; the vendor's name is appended. */
export const BRIEFING_STREAM_PATH = "/ws/telephony/briefing";
const MESSAGE_BYTES_MAX = 16 * 1024;
const SILENCE_MAX_SEC = 60;
/** How long the person may take to press a key, from the end of the question on. */
const ANSWER_MAX_MS = 5_000;
/** More than a briefing and its answer ever take. */
const STREAM_MAX_MS = 4 * 60_000;
const QUESTION_MARK = "question";
/** Wire samples of a briefing, as `BriefingVoice` speaks them. */
const SPOKEN_ENCODING = "pcm16";
const CLOSE_DONE = 1000;

export interface BriefingSocketOptions {
  readonly server: Pick<HttpServer, "webSocket">;
  readonly continuations: Pick<Continuations, "personClaimsOf">;
  readonly warmTransfers: Pick<WarmTransfers, "briefing" | "decided">;
  readonly baseUrl: () => string | undefined;
  readonly isClosed: () => boolean;
  readonly clock: Clock;
  readonly log: Logger;
}

interface Briefing {
  readonly person: PersonClaims | undefined;
  readonly asked: number;
  readonly wire: PhoneWire | undefined;
  paced: PacedStream | undefined;
  hasAnswered: boolean;
  isOver: boolean;
  cancelEnd: CancelTimer | undefined;
}

/**
 * `GET /ws/telephony/briefing/<vendor>?token=…&asked=…`: at a vendor that plays no files, the person of a warm transfer hears the
 * briefing in a media stream and answers by key. The answer is stored before the stream is closed; the vendor then asks what follows.
 */
export class BriefingSocket {
  readonly #options: BriefingSocketOptions;
  readonly #pacer: Pacer;

  constructor(options: BriefingSocketOptions) {
    this.#options = options;
    this.#pacer = new Pacer(options.clock, (error) => {
      options.log.error({ error }, "failed to send a briefing; closing its stream");
    });
  }

  listen(): void {
    this.#options.server.webSocket(`${BRIEFING_STREAM_PATH}/:vendor`, this.#route());
  }

  #route(): WebSocketRoute<Briefing> {
    return {
      messageBytesMax: MESSAGE_BYTES_MAX,
      silenceMaxSec: SILENCE_MAX_SEC,
      isClosed: this.#options.isClosed,
      admit: (request) => {
        const vendor = request.getParameter(0) ?? "";
        const person = this.#options.continuations.personClaimsOf(request.getQuery("token") ?? "");
        return {
          person: person?.claims.vendor === vendor ? person : undefined,
          asked: Number(request.getQuery("asked") ?? "1"),
          wire: phoneVendor(vendor)?.newWire?.(),
          paced: undefined,
          hasAnswered: false,
          isOver: false,
          cancelEnd: undefined,
        };
      },
      open: (socket) => this.#opened(socket),
      message: (socket, message, isBinary) => {
        const { wire, isOver } = socket.getUserData();
        if (wire === undefined || isOver) return;
        for (const event of wire.fromWire(Buffer.from(message), isBinary))
          this.#take(socket, event);
      },
      close: (socket) => this.#stop(socket.getUserData()),
    };
  }

  #opened(socket: BackendSocket<Briefing>): void {
    const briefing = socket.getUserData();
    if (briefing.person === undefined || briefing.wire === undefined) {
      briefing.isOver = true;
      socket.end(CLOSE_UNAUTHORIZED, "token: expected that of a person who was called");
      return;
    }
    this.#endAfter(socket, STREAM_MAX_MS);
  }

  #take(socket: BackendSocket<Briefing>, event: PhoneEvent): void {
    const briefing = socket.getUserData();
    switch (event.type) {
      case "started":
        // A dialplan asks for this rate, and the briefing is spoken at it.
        if (event.sampleRateHz === PHONE_RATE_HZ && refusedFormat(event) === undefined)
          void this.#speak(socket);
        else this.#end(socket);
        return;
      case "unsupported":
      case "ended":
        return this.#end(socket);
      case "flow":
        return event.isOpen ? briefing.paced?.resume() : briefing.paced?.hold();
      case "markReached":
        return this.#endAfter(socket, ANSWER_MAX_MS);
      case "digit":
        void this.#answered(socket, event.digit);
        return;
      case "audio":
      case "cleared":
      case "ignored":
        return;
    }
  }

  /** Never rejects. Without TTS the stream is over at once, and the person counts as one who has answered nothing. */
  async #speak(socket: BackendSocket<Briefing>): Promise<void> {
    const { warmTransfers, log } = this.#options;
    const briefing = socket.getUserData();
    const { person, wire, asked } = briefing;
    if (person === undefined || wire === undefined || briefing.paced !== undefined) return;
    const { encoding } = wire.outbound;
    const send = (frames: readonly WireFrame[]) => {
      if (briefing.isOver) return;
      for (const frame of frames) socket.send(frame, typeof frame !== "string");
    };
    const format = { frameBytes: frameBytesOf(wire.outbound), silence: silenceByte(encoding) };
    const paced = this.#pacer.open(format, {
      frame: (bytes) => send(wire.audio(bytes)),
      mark: (name) => send(wire.mark(name)),
      broken: () => this.#end(socket),
    });
    briefing.paced = paced;
    try {
      const sounds = await warmTransfers.briefing(person, asked > 1);
      if (briefing.isOver) return paced.close();
      if (sounds.length === 0) return this.#end(socket);
      for (const [index, sound] of sounds.entries()) {
        const samples = decodeSamples(new WavReader().take(sound), SPOKEN_ENCODING);
        const isLast = index === sounds.length - 1;
        paced.enqueue(encodeSamples(samples, encoding), isLast ? QUESTION_MARK : undefined);
      }
    } catch (error) {
      log.error({ error }, "failed to brief the person of a warm transfer");
      this.#end(socket);
    }
  }

  /** Never rejects. The first key counts, also during the briefing. */
  async #answered(socket: BackendSocket<Briefing>, digits: string): Promise<void> {
    const { warmTransfers, baseUrl, log } = this.#options;
    const briefing = socket.getUserData();
    const { person, asked } = briefing;
    if (person === undefined || briefing.hasAnswered) return;
    briefing.hasAnswered = true;
    briefing.paced?.clear();
    try {
      await warmTransfers.decided(person, { digits, speech: "", asked }, baseUrl() ?? "");
    } catch (error) {
      log.error({ error }, "failed to store the answer of a warm transfer");
    }
    this.#end(socket);
  }

  #endAfter(socket: BackendSocket<Briefing>, delayMs: number): void {
    const briefing = socket.getUserData();
    if (briefing.isOver) return;
    briefing.cancelEnd?.();
    briefing.cancelEnd = this.#options.clock.after(delayMs, () => this.#end(socket));
  }

  #end(socket: BackendSocket<Briefing>): void {
    const briefing = socket.getUserData();
    if (briefing.isOver) return;
    for (const frame of briefing.wire?.hangUp() ?? []) socket.send(frame, false);
    this.#stop(briefing);
    socket.end(CLOSE_DONE, "the briefing is over");
  }

  #stop(briefing: Briefing): void {
    briefing.isOver = true;
    briefing.cancelEnd?.();
    briefing.paced?.close();
  }
}
