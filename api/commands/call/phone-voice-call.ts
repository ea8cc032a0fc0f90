import { AwaitedEvents } from "../../../engine/sandbox/awaited-events.js";
import type { Utterance } from "../../../engine/sandbox/caller.js";
import { describeEvent, type Received } from "../../../engine/sandbox/caller-events.js";
import {
  PhoneCaller,
  type PhoneCallerEvent,
  type PhoneCallerOptions,
} from "../../../engine/sandbox/telephone/phone-caller.js";
import type { VoiceCall } from "./medium.js";

const NS_PER_BYTE = 125_000n;
/** A reply whose next frame is only this late is not over. */
export const LATE_MS = 400;
const LATE_NS = BigInt(LATE_MS) * 1_000_000n;

/** The stream that a call goes on with, such as after a transfer that failed. */
export interface NextStream {
  readonly options: PhoneCallerOptions;
  /** Called when the stream is open, or cannot be opened. */
  readonly onTried: (isOpen: boolean) => void;
}

/** Undefined if the call is over. */
export type NextStreamOf = () => Promise<NextStream | undefined> | undefined;

/** A telephone call with the events of a web call. A reply ends when the agent has been silent for a while. */
export class PhoneVoiceCall implements VoiceCall {
  /** Telephone calls receive no history key. */
  readonly historyKey = "";
  readonly #events = new AwaitedEvents<Received>(describeEvent);
  readonly #nextStream: NextStreamOf;
  #caller: PhoneCaller | undefined;
  #isHungUp = false;
  #following: Promise<void> | undefined;
  readonly #over = new AbortController();
  #isSounding = false;
  /** A reply can have several texts, such as one before a tool and one behind it. */
  #replyText = "";
  #playedOutNs = 0n;

  /**
   * Rejects with the errors of `PhoneCaller.call`. `nextStream` is asked what follows when the stream ends and the caller has not
   * hung up.
   */
  static async dial(
    options: PhoneCallerOptions,
    agentName: string,
    nextStream: NextStreamOf,
  ): Promise<PhoneVoiceCall> {
    const call = new PhoneVoiceCall(nextStream);
    await call.#connect(options);
    const atNs = process.hrtime.bigint();
    call.#events.add({ type: "connected", agentName, historyKey: "", atNs });
    return call;
  }

  private constructor(nextStream: NextStreamOf) {
    this.#nextStream = nextStream;
  }

  /** Aborted when the call is over. */
  get over(): AbortSignal {
    return this.#over.signal;
  }

  /** Adds the agent's texts, which a telephone does not receive. */
  addReply(text: string): void {
    if (this.over.aborted) return;
    this.#replyText = `${this.#replyText} ${text}`.trim();
    const payload = { role: "assistant", text: this.#replyText, isFinal: true } as const;
    this.#events.add({ type: "transcript", payload, atNs: process.hrtime.bigint() });
  }

  get callSid(): string {
    return this.#dialled.callSid;
  }

  /** A caller who is being transferred speaks when the agent is back. */
  async say(text: string): Promise<Utterance> {
    await this.#following;
    this.#endReplyIfPlayed(process.hrtime.bigint() - LATE_NS);
    return this.#dialled.say(text);
  }

  async interrupt(text: string): Promise<Utterance> {
    await this.#following;
    this.#endReplyIfPlayed(process.hrtime.bigint() - LATE_NS);
    return this.#dialled.interrupt(text);
  }

  until(predicate: (event: Received) => boolean, timeoutMs?: number): Promise<Received> {
    return this.#events.until(predicate, timeoutMs);
  }

  /** A caller who is being transferred waits for the outcome first. */
  async hangUp(): Promise<void> {
    await this.#following;
    this.#isHungUp = true;
    await this.leaveStream();
  }

  /** The vendor takes the call out of the stream: it may go on in another one. */
  leaveStream(): Promise<void> {
    return this.#dialled.hangUp();
  }

  async #connect(options: PhoneCallerOptions): Promise<void> {
    this.#caller = await PhoneCaller.call({
      ...options,
      keepsAudio: false,
      onAudio: (sound, atNs) => this.#sounded(sound, atNs),
      onEvent: (event) => this.#receive(event),
    });
  }

  get #dialled(): PhoneCaller {
    if (this.#caller === undefined) throw new Error("the call is not connected yet");
    return this.#caller;
  }

  #sounded(sound: Uint8Array, atNs: bigint): void {
    if (!this.#isSounding) this.#replyText = "";
    this.#isSounding = true;
    const fromNs = this.#playedOutNs > atNs ? this.#playedOutNs : atNs;
    this.#playedOutNs = fromNs + BigInt(sound.length) * NS_PER_BYTE;
    this.#events.add({ type: "audio", sound, atNs });
  }

  #receive(event: PhoneCallerEvent): void {
    const { type, atNs } = event;
    switch (type) {
      case "quiet":
        return this.#endReply(atNs);
      case "clear":
        this.#isSounding = false;
        this.#playedOutNs = atNs;
        return this.#events.add({ type: "audioStop", atNs });
      case "dropped":
        return this.#events.add({ type: "unreadable", text: event.text, atNs });
      case "closed":
        this.#following = this.#streamEnded(event);
        return;
      case "audio":
      case "mark":
      case "markEchoed":
        return;
    }
  }

  async #askNextStream(): Promise<NextStream | undefined> {
    try {
      return await this.#nextStream();
    } catch {
      return undefined;
    }
  }

  /**
   * Never rejects: a call whose next stream cannot be opened is over. The reply before a transfer goes on with what the agent says
   * when the transfer has failed.
   */
  async #streamEnded({
    code,
    reason,
    atNs,
  }: Extract<PhoneCallerEvent, { type: "closed" }>): Promise<void> {
    const next = this.#isHungUp ? undefined : await this.#askNextStream();
    if (next !== undefined) {
      // A document without another stream ends the call.
      const isOpen = await this.#connect(next.options).then(
        () => true,
        () => false,
      );
      next.onTried(isOpen);
      if (isOpen) return;
    }
    this.#endReplyIfPlayed(atNs);
    this.#over.abort();
    this.#events.add({ type: "closed", code, reason, atNs });
    this.#events.end();
  }

  /** A caller who speaks at once does not wait for the silence that ends a reply. */
  #endReplyIfPlayed(atNs: bigint): void {
    if (atNs >= this.#playedOutNs) this.#endReply(this.#playedOutNs);
  }

  #endReply(atNs: bigint): void {
    if (!this.#isSounding) return;
    this.#isSounding = false;
    this.#events.add({ type: "audioEnd", atNs });
  }
}
