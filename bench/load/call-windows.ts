import { setTimeout as sleep } from "node:timers/promises";
import { cpuMsOf } from "../stand/measured-server.js";
import type { ServerStand, VendorStand } from "../stand/stand.js";
import {
  type CallLoadResult,
  conversationOptions,
  followTurns,
  forgetJournal,
  journalOf,
  LAST_REPLIES_MS,
  type LoadPlan,
  phrasesNeeded,
  type TalkingCallers,
  talkingCallers,
  warmUp,
  webCallers,
} from "./call-load.js";
import type { Phrase } from "./phrases.js";
import { TurnTimings } from "./turn-timing.js";

/** `measureMs` is that of one window. */
export interface WindowsPlan extends LoadPlan {
  /** Each is a window alone and one beside. */
  readonly pairs: number;
}

/** `missedReplies` are those since the calls began. */
export type CallWindow = Pick<
  CallLoadResult,
  "timings" | "turnCount" | "lostCount" | "missedReplies" | "cpuMsPerCallSecond"
>;

export interface CallWindows {
  readonly alone: readonly CallWindow[];
  readonly beside: readonly CallWindow[];
}

/** Between what begins or ends beside the calls, and the window. */
const SETTLE_MS = 2_000;

export function phrasesOfWindows(plan: WindowsPlan): number {
  const windowMs = SETTLE_MS + plan.measureMs + LAST_REPLIES_MS;
  return phrasesNeeded({ ...plan, measureMs: 2 * plan.pairs * windowMs });
}

/**
 * The same calls on one server all the time, measured alone and beside something else in turns: what changes with the hour of
 * the machine, or from one process to the next, meets both. Every other pair begins beside, for what grows with time.
 */
export async function runCallWindows(
  server: ServerStand,
  vendors: VendorStand,
  phrases: readonly Phrase[],
  plan: WindowsPlan,
  beginBeside: () => Promise<() => Promise<void>>,
): Promise<CallWindows> {
  const callers = webCallers(server);
  const options = conversationOptions(callers, phrases, plan);
  await warmUp(options);
  const talking = await talkingCallers(options, plan.callers);
  await sleep(plan.settleMs);
  const measure = () => measureWindow(server, vendors, talking, plan.measureMs);
  const alone: CallWindow[] = [];
  const beside: CallWindow[] = [];
  const measureBeside = async () => {
    const endBeside = await beginBeside();
    beside.push(await measure());
    await endBeside();
  };
  for (let pair = 0; pair < plan.pairs; pair += 1) {
    if (pair % 2 === 1) await measureBeside();
    alone.push(await measure());
    if (pair % 2 === 0) await measureBeside();
  }
  await talking.end();
  return { alone, beside };
}

async function measureWindow(
  server: ServerStand,
  vendors: VendorStand,
  { conversations }: TalkingCallers,
  measureMs: number,
): Promise<CallWindow> {
  await sleep(SETTLE_MS);
  await forgetJournal(vendors);
  const fromNs = process.hrtime.bigint();
  const cpuBeforeMs = cpuMsOf(server);
  await sleep(measureMs);
  const toNs = process.hrtime.bigint();
  const usedMs = cpuMsOf(server) - cpuBeforeMs;
  await sleep(LAST_REPLIES_MS);
  const timings = new TurnTimings(await journalOf(vendors), webCallers(server).signs);
  const callSeconds = (conversations.length * Number(toNs - fromNs)) / 1e9;
  return {
    ...followTurns(timings, conversations, fromNs, toNs),
    cpuMsPerCallSecond: usedMs / callSeconds,
  };
}
