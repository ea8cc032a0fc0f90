import { setTimeout as sleep } from "node:timers/promises";
import type { Utterance } from "../../engine/sandbox/caller.js";
import type { Phrase } from "./phrases.js";

/** One turn as the caller had it. */
export interface SpokenTurn {
  readonly phrase: Phrase;
  readonly utterance: Utterance;
  /** Whether the turn was begun while the agent spoke. */
  readonly interrupts: boolean;
}

/** Something that a caller noticed, with the time on the machine's monotonic clock. */
export interface Happening {
  readonly type: string;
  readonly atNs: bigint;
}

/** A caller in a call, on whichever leg. `audio` happens when the agent begins to speak. */
export interface Talker {
  readonly events: readonly Happening[];
  /** Which of several agents that are compared at the same time it talks with. */
  readonly group?: number;
  /** Resolves when the last frame is sent. */
  say(phrase: Phrase): Promise<Utterance>;
  until(predicate: (happening: Happening) => boolean, timeoutMs: number): Promise<unknown>;
  hangUp(): Promise<void>;
}

export interface ConversationOptions {
  connect(): Promise<Talker>;
  readonly turnPeriodMs: number;
  /** One turn of so many is followed by an interruption of its reply. */
  readonly interruptEvery: number;
  readonly nextPhrase: () => Phrase;
}

const REPLY_TIMEOUT_MS = 10_000;
/** Into the reply, so that some words of it were heard. */
const INTERRUPT_AFTER_MS = 400;

/** A caller who says something every few seconds, and now and then does not wait for the end of the answer. */
export class Conversation {
  readonly #caller: Talker;
  readonly #options: ConversationOptions;
  readonly #turns: SpokenTurn[] = [];
  #isOver = false;
  #missedReplies = 0;

  static async begin(options: ConversationOptions): Promise<Conversation> {
    return new Conversation(await options.connect(), options);
  }

  private constructor(caller: Talker, options: ConversationOptions) {
    this.#caller = caller;
    this.#options = options;
  }

  get group(): number | undefined {
    return this.#caller.group;
  }

  get turns(): readonly SpokenTurn[] {
    return this.#turns;
  }

  get events(): readonly Happening[] {
    return this.#caller.events;
  }

  /** Turns that nobody answered in time. */
  get missedReplies(): number {
    return this.#missedReplies;
  }

  /** Talks until `end`. `offset` (0 to 1) is where in the period this caller begins. */
  async talk(offset: number): Promise<void> {
    const { turnPeriodMs, interruptEvery } = this.#options;
    const startMs = performance.now() + offset * turnPeriodMs;
    const first = Math.floor(offset * interruptEvery);
    for (let turn = 0; !this.#isOver; turn += 1) {
      await sleep(Math.max(0, startMs + turn * turnPeriodMs - performance.now()));
      if (this.#isOver) return;
      try {
        await this.#turn((turn + first) % interruptEvery === 0);
      } catch {
        if (!this.#isOver) this.#missedReplies += 1;
      }
    }
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await this.#caller.hangUp();
  }

  async #turn(isInterrupted: boolean): Promise<void> {
    await this.#say(false);
    if (!isInterrupted) return;
    await sleep(INTERRUPT_AFTER_MS);
    await this.#say(true);
  }

  async #say(interrupts: boolean): Promise<void> {
    const phrase = this.#options.nextPhrase();
    const utterance = await this.#caller.say(phrase);
    this.#turns.push({ phrase, utterance, interrupts });
    await this.#caller.until(
      ({ type, atNs }) => type === "audio" && atNs > utterance.endNs,
      REPLY_TIMEOUT_MS,
    );
  }
}
