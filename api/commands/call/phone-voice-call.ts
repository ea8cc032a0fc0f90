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

/** A telephone call with the events of a web call. A reply ends when the agent has been silent for a while. */
export class PhoneVoiceCall implements VoiceCall {
  /** Telephone calls receive no history key. */
  readonly historyKey = "";
  readonly #events = new AwaitedEvents<Received>(describeEvent);
  #caller: PhoneCaller | undefined;
  readonly #over = new AbortController();
  #isSounding = false;
  #playedOutNs = 0n;

  /** Rejects with the errors of `PhoneCaller.call`. */
  static async dial(options: PhoneCallerOptions, agentName: string): Promise<PhoneVoiceCall> {
    const call = new PhoneVoiceCall();
    call.#caller = await PhoneCaller.call({
      ...options,
      keepsAudio: false,
      onAudio: (sound, atNs) => call.#sounded(sound, atNs),
      onEvent: (event) => call.#receive(event),
    });
    const atNs = process.hrtime.bigint();
    call.#events.add({ type: "connected", agentName, historyKey: "", atNs });
    return call;
  }

  /** Aborted when the call is over. */
  get over(): AbortSignal {
    return this.#over.signal;
  }

  /** Adds the agent's texts, which a telephone does not receive. */
  addReply(text: string): void {
    if (this.over.aborted) return;
    const payload = { role: "assistant", text, isFinal: true } as const;
    this.#events.add({ type: "transcript", payload, atNs: process.hrtime.bigint() });
  }

  get callSid(): string {
    return this.#dialled.callSid;
  }

  say(text: string): Promise<Utterance> {
    this.#endReplyIfPlayed(process.hrtime.bigint() - LATE_NS);
    return this.#dialled.say(text);
  }

  interrupt(text: string): Promise<Utterance> {
    this.#endReplyIfPlayed(process.hrtime.bigint() - LATE_NS);
    return this.#dialled.interrupt(text);
  }

  until(predicate: (event: Received) => boolean, timeoutMs?: number): Promise<Received> {
    return this.#events.until(predicate, timeoutMs);
  }

  hangUp(): Promise<void> {
    return this.#dialled.hangUp();
  }

  get #dialled(): PhoneCaller {
    if (this.#caller === undefined) throw new Error("the call is not connected yet");
    return this.#caller;
  }

  #sounded(sound: Uint8Array, atNs: bigint): void {
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
        this.#endReplyIfPlayed(atNs);
        this.#over.abort();
        this.#events.add({ type, code: event.code, reason: event.reason, atNs });
        return this.#events.end();
      case "audio":
      case "mark":
      case "markEchoed":
        return;
    }
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
