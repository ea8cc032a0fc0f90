import { setTimeout as sleep } from "node:timers/promises";
import { Caller } from "../engine/sandbox/caller.js";
import type { StreamedFormat } from "../engine/sandbox/raw-sound.js";
import { Conversation, type ConversationOptions, type Talker } from "./conversation.js";
import { Inspector } from "./inspector.js";
import type { Phrase } from "./phrases.js";
import { cpuWithChildrenMs, residentWithChildrenBytes } from "./process-usage.js";
import { median } from "./quantile.js";
import type { ServerStand, VendorStand } from "./stand.js";
import { type TurnSigns, type TurnTiming, TurnTimings } from "./turn-timing.js";

export interface LoadPlan {
  readonly callers: number;
  readonly settleMs: number;
  readonly measureMs: number;
  readonly turnPeriodMs: number;
  readonly interruptEvery: number;
}

/** Everybody is connected within this time, so that the handshakes do not fall into one moment. */
const RAMP_MS = 4_000;
/** Calls before the idle memory is read: code is compiled, pools are open. */
const WARM_UP_CALLERS = 40;
const WARM_UP_RAMP_MS = 1_600;
const WARM_UP_MS = 6_000;
const AFTER_WARM_UP_MS = 2_000;
const SAMPLE_MS = 1_000;
/** The collector gives pages back to the system on a thread of its own. */
const PAGES_RETURNED_MS = 1_000;
const LAST_REPLIES_MS = 2_000;

export interface CallLoadResult {
  readonly timings: readonly TurnTiming[];
  readonly bargeInsMs: readonly number[];
  readonly cpuMsPerCallSecond: number;
  /**
   * What a call holds over an idle server, both after a full collection: resident memory, or the live heap and its buffers
   * where the process had pages left over from before, so that its resident memory does not show what the calls took. Only the
   * first of several processes is collected: with them it is what the calls hold at most.
   */
  readonly residentBytesPerCall: number;
  /** What a call adds with its garbage, as the system sees it: it grows with the collector's room, not with calls. */
  readonly uncollectedBytesPerCall: number;
  readonly idleResidentBytes: number;
  readonly turnCount: number;
  /** Turns that were spoken in the window and could not be followed through the journal. */
  readonly lostCount: number;
  readonly missedReplies: number;
}

/** How many phrases a load needs: each is used once. */
export function phrasesNeeded(plan: LoadPlan): number {
  const durationMs = RAMP_MS + plan.settleMs + plan.measureMs + LAST_REPLIES_MS;
  const turnsPerCaller = Math.ceil(durationMs / plan.turnPeriodMs) + 1;
  const warmUpTurns = 2 * WARM_UP_CALLERS;
  return Math.ceil((plan.callers * turnsPerCaller + warmUpTurns) * (1 + 1 / plan.interruptEvery));
}

/** Who calls, and by what the turns of such calls are known. */
export interface LoadCallers {
  connect(): Promise<Talker>;
  readonly signs: TurnSigns;
  /** Called where the measured time begins, and where it ends. */
  measuring?(isOn: boolean): void;
}

/**
 * `stream`: the agent's voice comes in pieces of this encoding, instead of whole sentences. Without an agent they talk to the first
 * of the organization.
 */
export function webCallers(
  { url, apiKey }: ServerStand,
  stream?: StreamedFormat,
  agentId?: string,
): LoadCallers {
  const soundsFrom = stream === undefined ? "lastByte" : "firstByte";
  const signs = { voice: "openaiSpeech", soundsFrom, stop: "audioStop" } as const;
  const whom = agentId === undefined ? {} : { agentId };
  const how = { keepsAudio: false, ...whom, ...(stream === undefined ? {} : { stream }) };
  return {
    signs,
    async connect() {
      const caller = await Caller.connect({ url, apiKey, ...how });
      return {
        get events() {
          return caller.events;
        },
        say: ({ text, audio }) => caller.play(text, audio),
        until: (predicate, timeoutMs) => caller.until(predicate, timeoutMs),
        hangUp: () => caller.hangUp(),
      };
    },
  };
}

/** Has `plan.callers` talk with the server at the same time, and measures it from outside. */
export async function runCallLoad(
  server: ServerStand,
  vendors: VendorStand,
  phrases: readonly Phrase[],
  plan: LoadPlan,
  callers: LoadCallers = webCallers(server),
): Promise<CallLoadResult> {
  const unused = phrases.values();
  const options: ConversationOptions = {
    connect: () => callers.connect(),
    turnPeriodMs: plan.turnPeriodMs,
    interruptEvery: plan.interruptEvery,
    nextPhrase: () => {
      const { value, done } = unused.next();
      if (done) throw new RangeError("the load needs more phrases than were made");
      return value;
    },
  };
  await warmUp(options);
  const { pid } = server.process;
  const idle = await collectedBytes(server);
  await fetch(`${vendors.deskUrl}/journal`, { method: "DELETE" });

  const conversations = await connectAll(options, plan.callers, RAMP_MS);
  const talks = conversations.map((one, index) => one.talk(index / conversations.length));
  await sleep(plan.settleMs);
  callers.measuring?.(true);
  const fromNs = process.hrtime.bigint();
  const cpuBeforeMs = cpuWithChildrenMs(pid);
  const resident: number[] = [];
  for (let atMs = 0; atMs < plan.measureMs; atMs += SAMPLE_MS) {
    await sleep(SAMPLE_MS);
    resident.push(residentWithChildrenBytes(pid));
  }
  const toNs = process.hrtime.bigint();
  callers.measuring?.(false);
  const callSeconds = (plan.callers * Number(toNs - fromNs)) / 1e9;
  const cpuMsPerCallSecond = (cpuWithChildrenMs(pid) - cpuBeforeMs) / callSeconds;
  await sleep(LAST_REPLIES_MS);
  const busy = await collectedBytes(server);
  const journal: unknown = await (await fetch(`${vendors.deskUrl}/journal`)).json();
  await Promise.all(conversations.map((one) => one.end()));
  await Promise.all(talks);
  return {
    ...followTurns(new TurnTimings(journal, callers.signs), conversations, fromNs, toNs),
    cpuMsPerCallSecond,
    residentBytesPerCall:
      Math.max(busy.resident - idle.resident, busy.live - idle.live) / plan.callers,
    uncollectedBytesPerCall: (median(resident) - idle.resident) / plan.callers,
    idleResidentBytes: idle.resident,
  };
}

async function warmUp(options: ConversationOptions): Promise<void> {
  const turnPeriodMs = WARM_UP_MS;
  const conversations = await connectAll(
    { ...options, turnPeriodMs },
    WARM_UP_CALLERS,
    WARM_UP_RAMP_MS,
  );
  const talks = conversations.map((one) => one.talk(0));
  await sleep(WARM_UP_MS - SAMPLE_MS);
  await Promise.all(conversations.map((one) => one.end()));
  await Promise.all(talks);
  await sleep(AFTER_WARM_UP_MS);
}

async function collectedBytes({
  process,
}: ServerStand): Promise<{ readonly live: number; readonly resident: number }> {
  const inspector = await Inspector.attach(process.inspectorUrl ?? "");
  const live = await inspector.liveBytes();
  inspector.close();
  await sleep(PAGES_RETURNED_MS);
  return { live, resident: residentWithChildrenBytes(process.pid) };
}

function connectAll(
  options: ConversationOptions,
  count: number,
  rampMs: number,
): Promise<Conversation[]> {
  const begun = Array.from({ length: count }, async (_, index) => {
    await sleep((rampMs * index) / count);
    return Conversation.begin(options);
  });
  return Promise.all(begun);
}

/** The turns that were spoken between two moments, as far as the journal tells of them. */
export function followTurns(
  timings: TurnTimings,
  conversations: readonly Conversation[],
  fromNs: bigint,
  toNs: bigint,
): Pick<CallLoadResult, "timings" | "bargeInsMs" | "turnCount" | "lostCount" | "missedReplies"> {
  const found: TurnTiming[] = [];
  const bargeInsMs: number[] = [];
  let turnCount = 0;
  let missedReplies = 0;
  for (const { turns, events, missedReplies: missed } of conversations) {
    missedReplies += missed;
    for (const turn of turns) {
      const { endNs } = turn.utterance;
      if (endNs < fromNs || endNs > toNs) continue;
      turnCount += 1;
      const timing = timings.ofTurn(turn, events);
      if (timing !== undefined) found.push(timing);
      const bargeInMs = turn.interrupts ? timings.bargeInMs(turn, events) : undefined;
      if (bargeInMs !== undefined) bargeInsMs.push(bargeInMs);
    }
  }
  const lostCount = turnCount - found.length;
  return { timings: found, bargeInsMs, turnCount, lostCount, missedReplies };
}
