import { setTimeout as sleep } from "node:timers/promises";
import { Caller } from "../../../engine/sandbox/caller.js";
import type { CallerEvent } from "../../../engine/sandbox/caller-events.js";
import type { AttackedServer } from "../attacked-server.js";

/** Longer than the longest wait for a vendor, twice. */
const ANSWERED_MAX_MS = 75_000;

/** What became of a call whose vendors did something wrong; `nothing` is what no caller may have to bear. */
export type Fate = "answered" | "told" | "closed" | "nothing";

/** How a caller talks to somebody who does not answer. */
export interface ReplyTimeout {
  readonly words: string;
  /** After it the words are said again. */
  readonly pauseMs: number;
}

/** Waits longer than the server does for its vendors: what is said again begins a turn, and its waits, anew. */
const PATIENT: ReplyTimeout = { words: "say ok", pauseMs: 30_000 };

/** Calls the agent, says something until it is answered, told or closed, and hangs up. `spoil` is done in mid-call. */
export async function callHostile(
  { url, apiKey }: AttackedServer,
  agentId: string,
  { words, pauseMs }: ReplyTimeout = PATIENT,
  spoil: () => Promise<void> = () => Promise.resolve(),
): Promise<Fate> {
  const caller = Caller.dial({ url, apiKey, agentId, keepsAudio: false });
  const fate = caller.until(isFate, ANSWERED_MAX_MS).then(fateOf, () => "nothing" as const);
  const connected = caller.until(({ type }) => type === "connected", ANSWERED_MAX_MS);
  const isConnected = await Promise.race([
    connected.then(
      () => true,
      () => false,
    ),
    fate.then(() => false),
  ]);
  if (isConnected) {
    await spoil();
    await talkUntil(caller, words, fate, pauseMs);
  }
  const seen = await fate;
  await caller.hangUp();
  return seen;
}

/** Says the words again and again, with time for an answer between, until something is over. */
export async function talkUntil(
  caller: Caller,
  words: string,
  over: Promise<unknown>,
  pauseMs: number,
): Promise<void> {
  const end = new AbortController();
  const stop = () => end.abort();
  over.then(stop, stop);
  while (!end.signal.aborted) {
    // A call that is over says nothing; what is waited for comes with it.
    await caller.say(words).catch(() => undefined);
    await Promise.race([over, sleep(pauseMs)]);
  }
}

function isFate(event: CallerEvent): boolean {
  return fateOf(event) !== "nothing";
}

function fateOf(event: CallerEvent): Fate {
  if (event.type === "closed") return "closed";
  if (event.type === "error") return "told";
  if (event.type === "audio") return "answered";
  const isAgents = event.type === "transcript" && event.payload.role === "assistant";
  return isAgents ? "answered" : "nothing";
}
