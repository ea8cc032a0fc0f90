import type { PhoneCaller } from "./phone-caller.js";

/** Said one after the other, each when the agent has finished. */
const SENTENCES = ["Hello, my name is Ada.", "Say goodbye."];
/** Some agents have no greeting. */
const GREETING_MAX_MS = 5_000;
/** A server gives a stalled reply two attempts of 7 s and then apologizes. */
const REPLY_MAX_MS = 30_000;
/** The longest that a timer of Node can wait: the stream itself tells when it is over. */
const WHOLE_CALL_MS = 2 ** 31 - 1;
/** A call that was placed is answered, or has failed, by then. */
const EXPECTED_MAX_NS = 60_000_000_000n;
/** Numbers whose next call a person answers by typing, and calls of such persons; the oldest is forgotten beyond it. */
const EXPECTED_MAX = 100;

/**
 * The people who answer placed calls. Each follows a short script and hangs up; one whose number is expected says what is
 * typed, and stays until the agent hangs up.
 */
export class PhonePeople {
  /** Until when the next call to each number is answered by typing. */
  readonly #expected = new Map<string, bigint>();
  readonly #typing = new Map<string, PhoneCaller>();
  /** Ids of calls: after a transfer that failed, the same person is in another stream of the call. */
  readonly #typedCalls = new Set<string>();

  /** The next call to this number is answered by a person whose words are typed. */
  expectTyping(number: string): void {
    this.#expected.delete(number);
    this.#expected.set(number, process.hrtime.bigint() + EXPECTED_MAX_NS);
    const [oldest] = this.#expected.keys();
    if (this.#expected.size > EXPECTED_MAX && oldest !== undefined) this.#expected.delete(oldest);
  }

  /** False when no such person is in that call. */
  say(callSid: string, text: string): boolean {
    const caller = this.#typing.get(callSid);
    // The call may end before the last word: the typed words end with it.
    caller?.say(text).catch(() => undefined);
    return caller !== undefined;
  }

  /** What the person does who was called at `number`. Never rejects; resolves when the call is over. */
  async talk(caller: PhoneCaller, number: string): Promise<void> {
    const untilNs = this.#expected.get(number) ?? 0n;
    this.#expected.delete(number);
    const isTyped = this.#typedCalls.has(caller.callSid) || process.hrtime.bigint() <= untilNs;
    if (!isTyped) return followScript(caller);
    this.#typedCalls.add(caller.callSid);
    const [oldest] = this.#typedCalls;
    if (this.#typedCalls.size > EXPECTED_MAX && oldest !== undefined) {
      this.#typedCalls.delete(oldest);
    }
    this.#typing.set(caller.callSid, caller);
    await caller.until(({ type }) => type === "closed", WHOLE_CALL_MS).catch(() => undefined);
    // After a transfer that failed the same call has another stream.
    if (this.#typing.get(caller.callSid) === caller) this.#typing.delete(caller.callSid);
  }
}

/** Listens, speaks in turns and hangs up; returns early when the call is over. */
async function followScript(caller: PhoneCaller): Promise<void> {
  await listen(caller, 0n, GREETING_MAX_MS);
  try {
    for (const sentence of SENTENCES) {
      const { endNs } = await caller.say(sentence);
      await listen(caller, endNs, REPLY_MAX_MS);
    }
  } catch {
    // The agent hung up, or transferred the call.
  }
  await caller.hangUp();
}

/** Until the agent has said something after that moment and is quiet again, or the timeout. */
async function listen(caller: PhoneCaller, sinceNs: bigint, timeoutMs: number): Promise<void> {
  const isQuiet = ({ type, atNs }: { readonly type: string; readonly atNs: bigint }) =>
    type === "quiet" && atNs > sinceNs;
  await caller.until(isQuiet, timeoutMs).catch(() => undefined);
}

/** How a person answers the question of a warm transfer. */
export interface PersonReply {
  readonly digits?: string;
  readonly speech?: string;
  readonly hangsUp?: boolean;
}

const REPLIES: ReadonlyMap<string, PersonReply> = new Map([
  ["0006", { digits: "2" }],
  ["0007", {}],
  ["0008", { speech: "Yes, please." }],
  ["0010", { hangsUp: true }],
]);
const ACCEPTS: PersonReply = { digits: "1" };

/** By the last digits of the called number; others press 1. */
export function personReply(number: string): PersonReply {
  return REPLIES.get(number.slice(-4)) ?? ACCEPTS;
}
