import {
  FRAME_MS,
  frameBytesOf,
  type RawFormat,
  silenceByte,
} from "../../engine/audio/audio-format.js";
import { dtmfTones } from "../../engine/audio/dtmf.js";
import type { PacedStream, Pacer } from "../../engine/audio/pacer.js";
import { encodeSamples, forRecognizer } from "../../engine/audio/sample-coding.js";
import type { CallAudioTap, LiveConversation } from "../../engine/conversation/actor.js";
import { type CallTransfer, type Ending, isBreak } from "../../engine/conversation/call-end.js";
import type {
  CallerChannel,
  ClientToolAnswer,
  DtmfOutcome,
  SentenceId,
  TransferAnswer,
} from "../../engine/conversation/caller-channel.js";
import type { ClientMessage } from "../../engine/conversation/effects.js";
import type { PhoneEvent, PhoneWire, WireFrame } from "../../engine/telephony/phone-wire.js";
import type { CancelTimer, Clock } from "../../engine/time/clock.js";
import { within } from "../../engine/time/deadline.js";
import { CLOSE_CODE_BY_ENDING, CLOSE_INTERNAL_ERROR, closeReason } from "./close-codes.js";

/** A telephone plays 8 kB a second; this much unread data means that the vendor has stopped reading. */
const UNREAD_BYTES_MAX = 256 * 1024;
/** Events before the conversation exists; more of the caller's first words and digits are lost. */
const PREEMPTIVE_EVENTS_MAX = 100;
const KEYS_MARK = "keys";
const NO_PAGE: ClientToolAnswer = { error: "the caller is on a telephone, which has no page" };
/** Enough for a late timer, and no more than a vendor that plays everything immediately, and cannot clear, may lose. */
const BARE_WIRE_AHEAD_MS = 2 * FRAME_MS;
/** Networks between the vendor and the caller buffer audio: an earlier hang-up loses the last words. */
const HANG_UP_DELAY_MS = 300;

/** The part of a socket that a leg uses. */
export interface LegSocket {
  send(message: WireFrame, isBinary: boolean): void;
  end(code: number, reason: string): void;
  getBufferedAmount(): number;
}

/** The part of a conversation that a leg uses. */
export type LegSession = Pick<
  LiveConversation,
  "hear" | "pressKey" | "sentencePlayed" | "soundLate" | "end" | "hangUp"
>;

/** The telephone's side of the call, at the vendor. Neither promise rejects. */
export interface LegControl {
  /** Whether the vendor has transferred the call to that number, or has put the caller on hold for a warm transfer. */
  transfer(order: CallTransfer): Promise<TransferAnswer>;
  hangUp(): Promise<void>;
}

const LEG_BROKEN: Ending = {
  reason: "internalError",
  status: "failed",
  message: "internal error",
};
const VENDOR_TOO_SLOW: Ending = {
  reason: "callerTooSlow",
  status: "failed",
  message: "write buffer full: the telephony vendor reads too slowly",
};

export interface LegTiming {
  readonly pacer: Pacer;
  readonly clock: Clock;
}

/**
 * One telephone call's media stream: the vendor's protocol on one side, the conversation on the other, the pacer
 * in between.
 */
export class PhoneLeg implements CallerChannel {
  readonly #socket: LegSocket;
  readonly #wire: PhoneWire;
  readonly #inbound: RawFormat;
  readonly #outbound: RawFormat;
  readonly #paced: PacedStream;
  readonly #clock: Clock;
  readonly #closed = new AbortController();
  readonly #leg: LegControl;
  #session: LegSession | undefined;
  #tap: CallAudioTap | undefined;
  /** Audio, and DTMF digits as text, in the order of their arrival. */
  #early: (Uint8Array | string)[] = [];
  /** Callbacks that wait for DTMF of the agent's, in the order in which it is sent. */
  readonly #pressing: ((outcome: DtmfOutcome) => void)[] = [];
  #isOpen = true;
  /** Set while the last words still play: nothing more is sent, and the hang-up follows. */
  #cancelHangUp: CancelTimer | undefined;
  /** Whether that hang-up is also a request to the vendor's REST API. */
  #hangsUpByRest = false;
  /** When the vendor last reported that it had played a sentence. */
  #playedAtMs = Number.NEGATIVE_INFINITY;
  /** Audio is paused for either reason, and resumes when there is none. */
  #isReconnectable = false;
  #vendorIsFull = false;
  #isTooSlow = false;
  #isBroken = false;
  #reconnects = false;
  #isClaimed = false;

  /** `wire` is started. */
  constructor(socket: LegSocket, wire: PhoneWire, { pacer, clock }: LegTiming, leg: LegControl) {
    this.#clock = clock;
    this.#socket = socket;
    this.#wire = wire;
    this.#leg = leg;
    this.#inbound = wire.inbound;
    this.#outbound = wire.outbound;
    const frameBytes = frameBytesOf(wire.outbound);
    const ahead = wire.needsPacing ? { aheadMs: BARE_WIRE_AHEAD_MS } : {};
    this.#paced = pacer.open(
      { frameBytes, silence: silenceByte(wire.outbound.encoding), ...ahead },
      {
        frame: (bytes) => {
          this.#sendAll(wire.audio(bytes));
          this.#tap?.agent(bytes);
        },
        mark: (name) => this.#mark(name),
        late: (lateMs) => this.#session?.soundLate(lateMs),
        broken: () => this.#break(),
      },
    );
  }

  get inbound(): RawFormat {
    return this.#inbound;
  }

  get outbound(): RawFormat {
    return this.#outbound;
  }

  get closed(): AbortSignal {
    return this.#closed.signal;
  }

  /** From now on the tap receives what the caller hears. */
  observe(tap: CallAudioTap | undefined): void {
    this.#tap = tap;
  }

  /** A call that breaks is not hung up: its vendor requests the next step, and gets another stream. */
  reconnectWhenBroken(): void {
    this.#reconnects = true;
  }

  /** Whether its stream is gone, and the vendor requests the next step. */
  get isClaimed(): boolean {
    return this.#isClaimed;
  }

  connect(session: LegSession): void {
    this.#session = session;
    for (const early of this.#early) {
      if (typeof early === "string") session.pressKey(early);
      else session.hear(early);
    }
    this.#early = [];
  }

  take(event: PhoneEvent): void {
    if (this.#isEnding && event.type !== "ended") return;
    switch (event.type) {
      case "audio":
        return this.#hear(event.bytes);
      case "digit":
        return this.#press(event.digit);
      case "markReached":
        if (!event.wasPlayed) return;
        this.#playedAtMs = this.#clock.monotonicMs();
        return this.#sentencePlayed(event.name);
      case "flow":
        this.#vendorIsFull = !event.isOpen;
        return this.#holdOrResume();
      case "ended":
        return this.close(CLOSE_CODE_BY_ENDING.callerLeft, "the call has ended");
      case "started":
      case "unsupported":
      case "cleared":
      case "ignored":
        return;
    }
  }

  send(message: ClientMessage): void {
    if (message.type !== "audioStop" || this.#isEnding) return;
    this.#isReconnectable = false;
    this.#vendorIsFull = false;
    this.#paced.clear();
    this.#cutKeys();
    const clearing = this.#wire.clear();
    this.#sendAll(clearing);
    // A vendor without a clear message plays what it has.
    if (clearing.length > 0) this.#tap?.agentCut();
  }

  sendAudio(audio: Uint8Array, { turnId, index }: SentenceId, isLast: boolean): void {
    if (this.#isOpen && !this.#isEnding)
      this.#paced.enqueue(audio, isLast ? `${turnId}.${index}` : undefined);
  }

  pauseOutput(): void {
    this.#isReconnectable = true;
    this.#holdOrResume();
  }

  resumeAudio(): void {
    this.#isReconnectable = false;
    this.#holdOrResume();
  }

  sendDigits(digits: string): Promise<DtmfOutcome> {
    if (!this.#isOpen || this.#isEnding) return Promise.resolve("unavailable");
    const { encoding, sampleRateHz } = this.#outbound;
    const tones = encodeSamples(dtmfTones(digits, sampleRateHz), encoding);
    return new Promise((resolve) => {
      let isTaken = true;
      this.#pressing.push((outcome) => resolve(isTaken ? outcome : "cutOff"));
      isTaken = this.#paced.enqueue(tones, KEYS_MARK);
    });
  }

  /** The stream stays open meanwhile: closing it would hang up. False if the caller has left before. */
  async transfer(order: CallTransfer): Promise<TransferAnswer> {
    await this.#playedOut();
    return this.#isOpen && !this.#isEnding && this.#leg.transfer(order);
  }

  useTool(): Promise<ClientToolAnswer> {
    return Promise.resolve(NO_PAGE);
  }

  /**
   * Hangs up as soon as the last words can have been heard; a broken call that continues elsewhere does not wait
   * for them.
   */
  end(ending: Ending): void {
    if (!this.#isOpen || this.#isEnding) return;
    const code = CLOSE_CODE_BY_ENDING[ending.reason];
    // The telephone call continues without this stream.
    this.#isClaimed = this.#reconnects && (ending.transferTo !== undefined || isBreak(ending));
    if (this.#isClaimed && isBreak(ending)) return this.close(code, ending.message);
    const goesOn = ending.transferTo !== undefined || this.#isClaimed;
    const delayMs = this.#unplayedMs;
    const hangUp = () => {
      if (goesOn) this.close(code, ending.message);
      else this.refuse(code, ending.message);
    };
    if (delayMs <= 0) return hangUp();
    this.#cancelHangUp = this.#clock.after(delayMs, hangUp);
    this.#hangsUpByRest = !goesOn && !this.#wire.closingHangsUp;
    this.#paced.close();
    this.#cutKeys();
  }

  /** Ends the telephone call too, not only the stream. */
  refuse(code: number, reason: string): void {
    if (!this.#isOpen) return;
    this.#sendAll(this.#wire.hangUp());
    if (!this.#wire.closingHangsUp) void this.#leg.hangUp();
    this.close(code, reason);
  }

  close(code: number, reason: string): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#cancelHangUp?.();
    this.#paced.close();
    this.#cutKeys();
    this.#socket.end(code, closeReason(reason));
    this.#closed.abort();
    this.#session?.hangUp();
  }

  /** The socket is closed, by either side. */
  socketClosed(): void {
    if (this.#isOpen) this.#paced.close();
    this.#cancelHangUp?.();
    // The stream broke before the hang-up, but the telephone call may still exist.
    if (this.#isOpen && this.#hangsUpByRest) void this.#leg.hangUp();
    this.#cutKeys();
    this.#isClaimed ||= this.#isOpen && this.#reconnects;
    this.#isOpen = false;
    this.#closed.abort();
    this.#session?.hangUp();
    this.#session = undefined;
  }

  get #isEnding(): boolean {
    return this.#cancelHangUp !== undefined;
  }

  /**
   * The time until the caller can have heard everything that was sent: at most what the pacer sends ahead, plus
   * the delay.
   */
  get #unplayedMs(): number {
    if (this.#isTooSlow) return 0;
    const playedByMs = Math.max(this.#paced.playedByMs, this.#playedAtMs);
    return playedByMs + HANG_UP_DELAY_MS - this.#clock.monotonicMs();
  }

  /** Resolves immediately if nothing was sent for that long, and when the leg is gone. */
  async #playedOut(): Promise<void> {
    const delayMs = this.#unplayedMs;
    const { signal } = this.#closed;
    if (delayMs <= 0 || signal.aborted) return;
    const gone = new Promise((resolve) => {
      signal.addEventListener("abort", resolve, { once: true });
    });
    await within(this.#clock, delayMs, gone);
  }

  #hear(bytes: Uint8Array): void {
    const audio = forRecognizer(bytes, this.#inbound.encoding);
    if (this.#session !== undefined) this.#session.hear(audio);
    else if (this.#early.length < PREEMPTIVE_EVENTS_MAX) this.#early.push(Uint8Array.from(audio));
  }

  #press(digit: string): void {
    if (this.#session !== undefined) this.#session.pressKey(digit);
    else if (this.#early.length < PREEMPTIVE_EVENTS_MAX) this.#early.push(digit);
  }

  #cutKeys(): void {
    for (const settle of this.#pressing.splice(0)) settle("cutOff");
  }

  /** If the vendor reports no marks, audio that was sent in time counts as heard. */
  #mark(name: string): void {
    if (name === KEYS_MARK) return this.#pressing.shift()?.("pressed");
    const frames = this.#wire.mark(name);
    if (frames.length > 0) this.#sendAll(frames);
    else this.#sentencePlayed(name);
  }

  #sentencePlayed(mark: string): void {
    const [turnId, index] = mark.split(".").map(Number);
    if (turnId === undefined || index === undefined) return;
    this.#session?.sentencePlayed({ turnId, index });
  }

  /** Prevents an endless silence for the rest of the call. */
  #break(): void {
    this.#isBroken = true;
    if (this.#session !== undefined) this.#session.end(LEG_BROKEN);
    else this.close(CLOSE_INTERNAL_ERROR, LEG_BROKEN.message);
  }

  #holdOrResume(): void {
    if (this.#isReconnectable || this.#vendorIsFull) this.#paced.hold();
    else this.#paced.resume();
  }

  #sendAll(frames: readonly WireFrame[]): void {
    if (!this.#isOpen || this.#isBroken) return;
    for (const frame of frames) this.#socket.send(frame, typeof frame !== "string");
    if (this.#isTooSlow || this.#socket.getBufferedAmount() <= UNREAD_BYTES_MAX) return;
    this.#isTooSlow = true;
    this.#session?.end(VENDOR_TOO_SLOW);
  }
}
