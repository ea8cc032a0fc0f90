import { setTimeout as sleep } from "node:timers/promises";
import { PhoneCaller } from "../../engine/sandbox/telephone/phone-caller.js";
import { ReplyGaps } from "../phone/reply-gaps.js";

const GREETING_END = "today?";
const NAMED = { words: "my name is Anna", answerEnd: "in this sandbox?" };
const REMEMBERED = {
  words: "what is my name",
  answerEnd: "Your name is Anna. You told me so earlier in this call.",
};
const TALK = "say one two three four five six seven eight nine ten eleven twelve";
const APOLOGY = "Where were we?";
const ANSWER_MAX_MS = 30_000;
/**
 * The least that a vendor's network takes to hear of a break, and to ask what comes next. On loopback the question would come
 * while the system still takes down the dead process's port.
 */
const NETWORK_MS = 50;

/** A caller who talks until the stream breaks, and then goes on where the vendor is sent to. */
export class KilledCaller {
  /** When all of the apology was heard, by `performance.now()`; undefined for one whose stream did not break, or who waits. */
  backAtMs: number | undefined;
  #caller: PhoneCaller;
  readonly #gaps: ReplyGaps;
  #isOver = false;
  #isBroken = false;
  #fault: string | undefined;
  #talking: Promise<void> = Promise.resolve();

  /** Resolves when the agent knows the caller's name, or when that went wrong, as `finish` says then. */
  static async call(webhookUrl: string): Promise<KilledCaller> {
    const gaps = new ReplyGaps();
    const onAudio = (_: Uint8Array, atNs: bigint) => gaps.heard(atNs);
    const caller = new KilledCaller(await PhoneCaller.call({ webhookUrl, onAudio }), gaps);
    await caller.#noting(async () => {
      await caller.#hear(GREETING_END);
      await caller.#converse(NAMED);
    });
    return caller;
  }

  private constructor(caller: PhoneCaller, gaps: ReplyGaps) {
    this.#caller = caller;
    this.#gaps = gaps;
  }

  /** What lay between two frames of the replies until now, the oldest first. */
  get gapsMs(): readonly number[] {
    return this.#gaps.gapsMs;
  }

  get isBroken(): boolean {
    return this.#isBroken;
  }

  /** Has long replies after so long a silence, one after the other, until `finish`. */
  talk(afterMs: number): void {
    this.#talking = this.#noting(async () => {
      await sleep(afterMs);
      await this.#talk();
    });
  }

  /** Ends the talk, asks what the agent knows, and hangs up. Says what was wrong; undefined when nothing was. */
  async finish(): Promise<string | undefined> {
    this.#isOver = true;
    await this.#talking;
    await this.#noting(() => this.#converse(REMEMBERED));
    await this.#caller.hangUp();
    return this.#fault;
  }

  /** Nothing is done any more after the first thing that went wrong. */
  async #noting(work: () => Promise<void>): Promise<void> {
    if (this.#fault !== undefined) return;
    try {
      await work();
    } catch (error) {
      this.#fault = error instanceof Error ? error.message : "unknown";
    }
  }

  async #talk(): Promise<void> {
    while (!this.#isOver) {
      try {
        await this.#caller.say(TALK);
        this.#gaps.asked();
        await this.#caller.until(({ type }) => type === "markEchoed", ANSWER_MAX_MS);
      } catch (error) {
        if (!this.#caller.events.some(({ type }) => type === "closed")) throw error;
        if (this.#isBroken) throw error;
        await this.#goOn();
        return;
      }
    }
  }

  async #goOn(): Promise<void> {
    this.#isBroken = true;
    await sleep(NETWORK_MS);
    this.#caller = await this.#caller.continue();
    await this.#hear(APOLOGY);
    this.backAtMs = performance.now();
  }

  async #converse({ words, answerEnd }: typeof NAMED): Promise<void> {
    await this.#caller.say(words);
    this.#gaps.asked();
    await this.#hear(answerEnd);
  }

  async #hear(words: string): Promise<void> {
    try {
      while (!this.#caller.playedText().includes(words)) {
        await this.#caller.until(({ type }) => type === "markEchoed", ANSWER_MAX_MS);
      }
    } catch (cause) {
      throw new Error(`waited for "${words}" and heard "${this.#caller.playedText()}"`, {
        cause,
      });
    }
  }
}
