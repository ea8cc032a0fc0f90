import { setTimeout as sleep } from "node:timers/promises";
import { Caller } from "../../engine/sandbox/caller.js";
import type { StreamedFormat } from "../../engine/sandbox/sound/raw-audio.js";
import { median } from "../quantile.js";
import { collectedBytesOf, cpuMsOf, residentBytesOf } from "../stand/measured-server.js";
import type { ServerStand, VendorStand } from "../stand/stand.js";
import { Conversation, type ConversationOptions, type Talker } from "./conversation.js";
import type { Phrase } from "./phrases.js";
import { type GroupedTiming, type TurnSigns, TurnTimings } from "./turn-timing.js";

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
/** After a measured time, for the replies to what was said last in it. */
export const LAST_REPLIES_MS = 2_000;

export interface CallLoadResult extends FollowedTurns {
  /** The first turns of a server that has just started, of callers who come at the same time. */
  readonly first: FollowedTurns;
  readonly cpuMsPerCallSecond: number;
  /**
   * What a call holds over an idle server, both after a full collection: resident memory, or the live heap and its buffers
   * where the process had pages left over from before, so that its resident memory does not show what the calls took.
   */
  readonly residentBytesPerCall: number;
  /** What a call holds of the session threads' heaps and buffers, after a full collection: what no other thread's garbage is in. */
  readonly liveBytesPerCall: number;
  /** What a call adds with its garbage, as the system sees it: it grows with the collector's room, not with calls. */
  readonly uncollectedBytesPerCall: number;
  readonly idleResidentBytes: number;
}

/** Turns that were spoken in some time, as far as the journal tells of them. */
export interface FollowedTurns {
  readonly timings: readonly GroupedTiming[];
  readonly bargeInsMs: readonly number[];
  readonly turnCount: number;
  /** Turns that could not be followed through the journal. */
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
  /** Called when the warm-up is over, and nobody talks. */
  warmedUp?(): Promise<void>;
  /** Called where the measured time begins, and where it ends. */
  measuring?(isOn: boolean): void;
  /** Called after the last replies: from here on the rig itself holds the server up, to see what calls hold of its memory. */
  counted?(): Promise<void>;
  /** Takes what the vendors have written down since the warm-up, as the sandbox gives it. */
  journal?(journal: unknown): void;
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
  const options = conversationOptions(callers, phrases, plan);
  await forgetJournal(vendors);
  const freshNs = process.hrtime.bigint();
  const firstConversations = await warmUp(options);
  const warmNs = process.hrtime.bigint();
  const firstTimings = new TurnTimings(await journalOf(vendors), callers.signs);
  const idle = await collectedBytesOf(server);
  await callers.warmedUp?.();
  await forgetJournal(vendors);

  const { conversations, end } = await talkingCallers(options, plan.callers);
  await sleep(plan.settleMs);
  callers.measuring?.(true);
  const fromNs = process.hrtime.bigint();
  const cpuBeforeMs = cpuMsOf(server);
  const resident: number[] = [];
  for (let atMs = 0; atMs < plan.measureMs; atMs += SAMPLE_MS) {
    await sleep(SAMPLE_MS);
    resident.push(residentBytesOf(server));
  }
  const toNs = process.hrtime.bigint();
  callers.measuring?.(false);
  const callSeconds = (plan.callers * Number(toNs - fromNs)) / 1e9;
  const cpuMsPerCallSecond = (cpuMsOf(server) - cpuBeforeMs) / callSeconds;
  await sleep(LAST_REPLIES_MS);
  await callers.counted?.();
  const busy = await collectedBytesOf(server);
  const journal = await journalOf(vendors);
  callers.journal?.(journal);
  await end();
  return {
    ...followTurns(new TurnTimings(journal, callers.signs), conversations, fromNs, toNs),
    first: followTurns(firstTimings, firstConversations, freshNs, warmNs),
    cpuMsPerCallSecond,
    residentBytesPerCall:
      Math.max(busy.resident - idle.resident, busy.live - idle.live) / plan.callers,
    liveBytesPerCall: (busy.live - idle.live) / plan.callers,
    uncollectedBytesPerCall: (median(resident) - idle.resident) / plan.callers,
    idleResidentBytes: idle.resident,
  };
}

/** What callers of the plan say, each phrase once. */
export function conversationOptions(
  callers: LoadCallers,
  phrases: readonly Phrase[],
  { turnPeriodMs, interruptEvery }: Pick<LoadPlan, "turnPeriodMs" | "interruptEvery">,
): ConversationOptions {
  const unused = phrases.values();
  return {
    connect: () => callers.connect(),
    turnPeriodMs,
    interruptEvery,
    nextPhrase: () => {
      const { value, done } = unused.next();
      if (done) throw new RangeError("the load needs more phrases than were made");
      return value;
    },
  };
}

export interface TalkingCallers {
  readonly conversations: readonly Conversation[];
  /** They hang up. */
  readonly end: () => Promise<void>;
}

/** Connects them one after the other; from then on each talks, in its own part of the period. */
export async function talkingCallers(
  options: ConversationOptions,
  count: number,
): Promise<TalkingCallers> {
  const conversations = await connectAll(options, count, RAMP_MS);
  const talks = conversations.map((one, index) => one.talk(index / conversations.length));
  const end = async () => {
    await Promise.all(conversations.map((one) => one.end()));
    await Promise.all(talks);
  };
  return { conversations, end };
}

/** What the vendors have written down since it was forgotten last. */
export async function journalOf({ deskUrl }: VendorStand): Promise<unknown> {
  return (await fetch(`${deskUrl}/journal`)).json();
}

export async function forgetJournal({ deskUrl }: VendorStand): Promise<void> {
  await fetch(`${deskUrl}/journal`, { method: "DELETE" });
}

/** Calls that are over before the measured ones begin. */
export async function warmUp(options: ConversationOptions): Promise<readonly Conversation[]> {
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
  return conversations;
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

export function followTurns(
  timings: TurnTimings,
  conversations: readonly Conversation[],
  fromNs: bigint,
  toNs: bigint,
): FollowedTurns {
  const found: GroupedTiming[] = [];
  const bargeInsMs: number[] = [];
  let turnCount = 0;
  let missedReplies = 0;
  for (const { turns, events, missedReplies: missed, group } of conversations) {
    missedReplies += missed;
    for (const turn of turns) {
      const { endNs } = turn.utterance;
      if (endNs < fromNs || endNs > toNs) continue;
      turnCount += 1;
      const timing = timings.ofTurn(turn, events);
      if (timing !== undefined) found.push(group === undefined ? timing : { ...timing, group });
      const bargeInMs = turn.interrupts ? timings.bargeInMs(turn, events) : undefined;
      if (bargeInMs !== undefined) bargeInsMs.push(bargeInMs);
    }
  }
  const lostCount = turnCount - found.length;
  return { timings: found, bargeInsMs, turnCount, lostCount, missedReplies };
}
