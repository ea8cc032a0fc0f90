import type { Utterance } from "../../../engine/sandbox/caller.js";
import type { Received } from "../../../engine/sandbox/caller-events.js";
import { CommandError } from "../command-error.js";
import { CallEndedError } from "./call-ended.js";
import type { Display } from "./display.js";
import type { Medium, VoiceCall } from "./medium.js";
import { Turn } from "./turn.js";

/** A server tries a stalled reply twice, for 7 s each, and then apologizes; a longer silence never ends. */
const PATIENCE_MS = 30_000;
/** The longest delay of a Node timer. The service itself ends calls earlier. */
const WHOLE_CALL_MS = 2 ** 31 - 1;

export interface ConversationOptions {
  /** Events of the other side that a display shows. */
  readonly url: string;
  readonly medium: Medium;
  readonly dial: () => VoiceCall | Promise<VoiceCall>;
  /** The `historyKey` of an earlier call. */
  readonly sessionId?: string | undefined;
  /** The call is given up after this much silence. */
  readonly replyTimeoutMs?: number | undefined;
  /** An agent that has not begun a greeting by then is taken to have none; each medium sets this. */
  readonly greetingWaitMs?: number | undefined;
}

interface Waiter {
  readonly isMet: () => boolean;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** One call as a sequence of turns. Pending promises reject with CallEndedError when the service ends the call. */
export class Conversation {
  readonly greeting: Turn;
  readonly turns: Turn[];
  readonly medium: Medium;
  readonly #call: VoiceCall;
  readonly #display: Display;
  readonly #replyTimeoutMs: number;
  readonly #greetingWaitMs: number;
  readonly #sessionId: string | undefined;
  readonly #listening: Promise<void>;
  readonly #waiters = new Set<Waiter>();
  #patience: NodeJS.Timeout | undefined;
  #connected = false;
  #greetingAwaited = true;
  /** The turn whose audio is playing. */
  #talking: Turn | undefined;
  /** The turn that was stopped. Its last transcript arrives after the stop. */
  #stopped: Turn | undefined;
  #decoded: Promise<void> = Promise.resolve();
  #ended: CallEndedError | undefined;

  /** Rejects with CallEndedError if the service refuses the call. */
  static async open(options: ConversationOptions, display: Display): Promise<Conversation> {
    display.dialled(options.url, process.hrtime.bigint());
    const conversation = new Conversation(await options.dial(), options, display);
    await conversation.#waitFor(() => conversation.#connected);
    return conversation;
  }

  private constructor(call: VoiceCall, options: ConversationOptions, display: Display) {
    this.#call = call;
    this.medium = options.medium;
    const playback = this.medium.newPlayback();
    this.greeting = new Turn({ number: 0, kind: "greeting", said: "", playback });
    this.turns = [this.greeting];
    this.#display = display;
    this.#replyTimeoutMs = options.replyTimeoutMs ?? PATIENCE_MS;
    this.#greetingWaitMs = options.greetingWaitMs ?? options.medium.greetingWaitMs;
    this.#sessionId = options.sessionId;
    this.#listening = this.#listen();
  }

  get historyKey(): string {
    return this.#call.historyKey ?? "";
  }

  get isTalking(): boolean {
    return this.#talking !== undefined;
  }

  get lastTurn(): Turn {
    return this.turns.at(-1) ?? this.greeting;
  }

  /** Resolves when the agent begins its greeting or is known to have none. A continued conversation has no greeting. */
  async greetingBegan(): Promise<void> {
    if (this.#sessionId === this.historyKey) return;
    const timer = setTimeout(() => {
      this.#greetingAwaited = false;
      this.#wake();
    }, this.#greetingWaitMs);
    try {
      await this.#waitFor(
        () => !this.#greetingAwaited || this.greeting.hasAudio || this.greeting.isOver,
      );
    } finally {
      clearTimeout(timer);
    }
  }

  /** Resolves when the last word has been sent. */
  say(text: string): Promise<Turn> {
    return this.#speak("say", text);
  }

  /** Like `say`, but does not wait for the end of what the caller is still saying. */
  interrupt(text: string): Promise<Turn> {
    for (const turn of this.turns) {
      if (!turn.isSpoken) turn.end("unanswered", process.hrtime.bigint());
    }
    return this.#speak("interrupt", text);
  }

  /** Resolves when the first audio of the turn has arrived. */
  talking(turn: Turn): Promise<void> {
    return this.#waitFor(() => turn.hasAudio || turn.isOver);
  }

  /** Resolves when the agent has finished the turn and its decoded text has been shown. */
  async over(turn: Turn): Promise<void> {
    if (turn.kind === "greeting" && !turn.hasAudio) return;
    await this.#waitFor(() => turn.isOver);
    await this.#decoded;
  }

  /** Rejects with CallEndedError when the call ends; never resolves. */
  untilEnded(): Promise<void> {
    return this.#listening.then(() => Promise.reject(this.#ended ?? new CallEndedError(1000, "")));
  }

  /** Resolves when the call is over and all decoded text has been shown. */
  async hangUp(): Promise<void> {
    await this.#call.hangUp();
    await this.#listening;
    await this.#decoded;
  }

  async #speak(kind: "say" | "interrupt", text: string): Promise<Turn> {
    const playback = this.medium.newPlayback();
    const turn = new Turn({ number: this.turns.length, kind, said: text, playback });
    const interrupted = this.#talking;
    this.turns.push(turn);
    this.#display.speaking(turn, process.hrtime.bigint());
    const utterance = await this.#uttered(turn, kind);
    if (utterance === undefined) return turn;
    turn.spoke(utterance);
    if (interrupted !== undefined) this.#tellSilence(interrupted, turn);
    this.#wake();
    return turn;
  }

  /** Resolves to undefined if the caller's own next words cut the utterance short. */
  async #uttered(turn: Turn, kind: "say" | "interrupt"): Promise<Utterance | undefined> {
    try {
      return await (kind === "say" ? this.#call.say(turn.said) : this.#call.interrupt(turn.said));
    } catch (error) {
      if (turn.outcome === "unanswered") return undefined;
      await this.#listening;
      throw this.#ended ?? error;
    }
  }

  async #listen(): Promise<void> {
    let event: Received;
    do {
      event = await this.#call.until(() => true, WHOLE_CALL_MS);
      this.#receive(event);
      this.#wake();
    } while (event.type !== "closed");
  }

  #receive(event: Received): void {
    const turn = this.#note(event);
    const isNews =
      event.type === "audio"
        ? this.medium.reportsEveryChunk || turn?.pieces.length === 1
        : event.type !== "transcript" || this.medium.showsTranscripts;
    if (isNews) this.#display.received(event, turn);
    if (this.#stopped !== undefined && event.type !== "audioStop") {
      this.#report(this.#stopped);
      this.#stopped = undefined;
    }
    if (event.type === "audioEnd" && turn !== undefined) this.#report(turn);
    if (event.type === "closed") this.#close(event.code, event.reason, event.atNs);
  }

  /** Returns the turn that the event belongs to. */
  #note(event: Received): Turn | undefined {
    switch (event.type) {
      case "connected":
        this.#connected = true;
        return undefined;
      case "audio":
        return this.#play(event.sound, event.atNs);
      case "transcript":
        return event.payload.role === "assistant" ? this.#quote(event.payload.text) : undefined;
      case "audioStop":
        return this.#stop(event.atNs);
      case "audioEnd":
        return this.#finish(event.atNs);
      case "audioStart":
      case "error":
      case "unreadable":
      case "closed":
        return this.#talking;
    }
  }

  #play(sound: Uint8Array, atNs: bigint): Turn {
    const turn = this.#talking ?? this.#answered();
    for (const earlier of this.turns.slice(0, turn.number)) earlier.end("unanswered", atNs);
    turn.play(sound, atNs);
    this.#talking = turn;
    return turn;
  }

  /** The caller's newest completed words: the agent replies to these. */
  #answered(): Turn {
    return this.turns.findLast(({ isSpoken, isOver }) => isSpoken && !isOver) ?? this.lastTurn;
  }

  #quote(text: string): Turn {
    const turn = this.#stopped ?? this.#talking ?? this.#answered();
    turn.transcript = text;
    return turn;
  }

  #stop(atNs: bigint): Turn | undefined {
    const turn = this.#talking;
    turn?.end("stopped", atNs);
    this.#talking = undefined;
    this.#stopped = turn;
    const interruption = this.lastTurn;
    if (turn !== undefined && interruption !== turn) this.#tellSilence(turn, interruption);
    return turn;
  }

  #finish(atNs: bigint): Turn {
    const turn = this.#talking ?? this.#answered();
    turn.end("finished", atNs);
    this.#talking = undefined;
    return turn;
  }

  #tellSilence(turn: Turn, interruption: Turn): void {
    if (turn.silencedBy(interruption)) this.#display.fellSilent(turn);
  }

  #report(turn: Turn): void {
    this.#decoded = this.#decoded.then(async () => {
      await turn.listen();
      this.#display.turnOver(turn);
    });
  }

  #close(code: number, reason: string, atNs: bigint): void {
    for (const turn of this.turns) {
      if (turn.isOver) continue;
      turn.end("cutOff", atNs);
      if (turn.hasAudio) this.#report(turn);
    }
    this.#talking = undefined;
    this.#ended = new CallEndedError(code, reason);
    clearTimeout(this.#patience);
    for (const { reject } of this.#waiters) reject(this.#ended);
    this.#waiters.clear();
  }

  #waitFor(isMet: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      if (isMet()) resolve();
      else if (this.#ended !== undefined) reject(this.#ended);
      else {
        this.#waiters.add({ isMet, resolve, reject });
        this.#wake();
      }
    });
  }

  #wake(): void {
    for (const waiter of this.#waiters) {
      if (!waiter.isMet()) continue;
      this.#waiters.delete(waiter);
      waiter.resolve();
    }
    clearTimeout(this.#patience);
    if (this.#waiters.size === 0) return;
    const endsNs = this.#talking?.playbackEndsNs ?? 0n;
    const leftMs = Math.max(0, Number(endsNs - process.hrtime.bigint()) / 1e6);
    this.#patience = setTimeout(() => this.#loseIt(), leftMs + this.#replyTimeoutMs);
  }

  #loseIt(): void {
    const seconds = Math.round(this.#replyTimeoutMs / 1000);
    const fault = new CommandError(`the agent was silent for ${seconds} s; the call was ended`);
    for (const { reject } of this.#waiters) reject(fault);
    this.#waiters.clear();
  }
}
