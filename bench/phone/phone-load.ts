import { pathToFileURL } from "node:url";
import * as v from "valibot";
import {
  type CallLoadResult,
  type LoadCallers,
  type LoadPlan,
  phrasesNeeded,
  runCallLoad,
} from "../load/call-load.js";
import { PHONE_SOUND, type Phrase, phrases } from "../load/phrases.js";
import type { TurnTiming, VoiceVendor } from "../load/turn-timing.js";
import { quantile } from "../quantile.js";
import { pinThisProcess } from "../stand/child-process.js";
import { Inspector } from "../stand/inspector.js";
import { startPreparedVendors } from "../stand/prepared-vendors.js";
import { readGauges } from "../stand/server-gauges.js";
import { overTls, type ServerStand, startServerStand, type VendorStand } from "../stand/stand.js";
import { PhoneJitter } from "./phone-jitter.js";
import {
  type AgentExtras,
  callersOfRelay,
  callersOfServers,
  startPhoneRelayStand,
  startServersApart,
} from "./phone-stand.js";
import { type RigGaps, rigGaps } from "./rig-gaps.js";

export interface PhoneLoadResult extends CallLoadResult {
  /** Between two frames of the agent's audio at the caller, beside 20 ms; without the burst where speech begins. */
  readonly jitterMs: readonly number[];
  /** Gaps in sentences that played faster than they came, as the server counts them; NaN for the relay, which does not. */
  readonly underruns: number;
  readonly rigGaps: RigGaps;
}

export interface PhoneLoadOptions {
  /** Settings of the server beside those of every stand. */
  readonly environment?: Readonly<Record<string, string>>;
  /** So many servers that know nothing of each other share the callers; left out: one. */
  readonly apart?: number;
  /** What the agent has beside its vendors. */
  readonly agent?: AgentExtras;
  readonly onServer?: (server: ServerStand) => void | Promise<void>;
  /** Called where the measured time begins, and where it ends, with all calls still there. */
  readonly onMeasuring?: (server: ServerStand, isOn: boolean) => void;
  /** Takes what the vendors have written down, as the sandbox gives it. */
  readonly onJournal?: (journal: unknown) => void;
}

/** `relay` is the reference; the others are Parley with an agent that has this vendor's voice. */
export type PhoneVariant = "relay" | VoiceVendor;

/** What comes from the vendors, and what becomes of it. */
export const VARIANT_TITLES: Readonly<Record<PhoneVariant, string>> = {
  relay: "relay",
  elevenlabs: "server, µ-law passed on",
  openaiSpeech: "server, PCM through the audio pool",
  edge: "server, MP3 through the audio pool",
};

/** Telephone calls under load on a server of their own, made for one run. */
export async function runPhoneLoad(
  variant: PhoneVariant,
  vendors: VendorStand,
  spoken: readonly Phrase[],
  plan: LoadPlan,
  options: PhoneLoadOptions = {},
): Promise<PhoneLoadResult> {
  const isRelay = variant === "relay";
  const { environment, apart = 1, agent, onServer, onMeasuring, onJournal } = options;
  const server = isRelay
    ? await startPhoneRelayStand(vendors)
    : await startServersApart(apart, () => startServerStand(vendors, undefined, environment));
  try {
    await onServer?.(server);
    const jitter = new PhoneJitter();
    const asked: LoadCallers = isRelay
      ? callersOfRelay(server, jitter)
      : await callersOfServers([server, ...(server.besides ?? [])], variant, jitter, agent);
    let warmUpUnderruns = 0;
    let underruns = Number.NaN;
    let gaps: RigGaps = { sent: 0, planned: 0, lateMs: [] };
    const callers: LoadCallers = {
      ...asked,
      async warmedUp() {
        warmUpUnderruns = isRelay ? 0 : await underrunsOf(server);
      },
      async counted() {
        if (!isRelay) underruns = (await underrunsOf(server)) - warmUpUnderruns;
      },
      measuring(isOn) {
        asked.measuring?.(isOn);
        onMeasuring?.(server, isOn);
      },
      journal(journal) {
        gaps = rigGaps(journal, asked.signs.voice, spoken);
        onJournal?.(journal);
      },
    };
    const result = await runCallLoad(server, vendors, spoken, plan, callers);
    return { ...result, jitterMs: jitter.errorsMs, underruns, rigGaps: gaps };
  } finally {
    await server.close();
  }
}

async function underrunsOf({ url, besides = [] }: ServerStand): Promise<number> {
  let count = 0;
  for (const each of [url, ...besides.map((server) => server.url)]) {
    count += (await readGauges(each)).get("parley_underruns_total") ?? Number.NaN;
  }
  return count;
}

export function phonePhrases(plan: LoadPlan): readonly Phrase[] {
  return phrases(phrasesNeeded(plan), PHONE_SOUND);
}

const SPREAD = [0.5, 0.9, 0.99, 1];

export function describePhoneLoad(who: string, result: PhoneLoadResult): readonly string[] {
  const { timings, turnCount, lostCount, missedReplies, first, rigGaps: rig } = result;
  const spread = (values: readonly number[]) =>
    SPREAD.map((share) => quantile(values, share).toFixed(2)).join(" / ");
  const part = (name: keyof TurnTiming) => spread(timings.map((one) => one[name]));
  const kilobytes = (bytes: number) => `${Math.round(bytes / 1_000)} kB`;
  return [
    `${who}: ${turnCount} turns, ${lostCount} not followed, ${missedReplies} not answered; p50 / p90 / p99 / max in ms`,
    `  caller's last speech to the recognizer: ${part("audioMs")}`,
    `  end of speech to the model: ${part("questionMs")}`,
    `  first sentence to the voice: ${part("sentenceMs")}`,
    `  its audio to the caller: ${part("playMs")}`,
    `  added in all: ${part("totalMs")}`,
    `  in the first turns of a fresh server (${first.turnCount}, ${first.lostCount} not followed): ${spread(first.timings.map(({ totalMs }) => totalMs))}`,
    `  barge-in (${result.bargeInsMs.length}): ${spread(result.bargeInsMs)}`,
    `  jitter (${result.jitterMs.length}): ${spread(result.jitterMs)}`,
    `  gaps in sentences: ${result.underruns}; by the same rule and no server ${rig.sent} with what the voice sent, ${rig.planned} with what it was to send`,
    `  the voice's audio, later than it was to be: ${spread(rig.lateMs)}`,
    `  CPU ${result.cpuMsPerCallSecond.toFixed(2)} ms per second of call`,
    `  memory: ${Math.round(result.idleResidentBytes / 1e6)} MB idle, then ${kilobytes(result.residentBytesPerCall)} a call, ${kilobytes(result.uncollectedBytesPerCall)} with garbage; ${kilobytes(result.liveBytesPerCall)} a call live in the session thread`,
  ];
}

const DEFAULT_CALLERS = 200;
const HOTTEST = 40;

/** `node phone-load.js [calls] [seconds] [variants, with commas] [profile|-] [tls]`. */
async function main(): Promise<void> {
  pinThisProcess();
  const [callers = DEFAULT_CALLERS, seconds = 30] = process.argv.slice(2, 4).map(Number);
  const named = (process.argv[4] ?? "relay,elevenlabs").split(",");
  const profiles = process.argv[5] === "profile";
  const plan = {
    callers,
    settleMs: 4_000,
    measureMs: seconds * 1_000,
    turnPeriodMs: 9_000,
    interruptEvery: 4,
  };
  const spoken = phonePhrases(plan);
  const variants = v.parse(
    v.array(v.picklist(["relay", "elevenlabs", "openaiSpeech", "edge"])),
    named,
  );
  const voices = variants.map((variant) => (variant === "relay" ? "elevenlabs" : variant));
  const plainVendors = await startPreparedVendors(spoken, [...new Set(voices)]);
  const vendors = process.argv[6] === "tls" ? overTls(plainVendors) : plainVendors;
  for (const variant of variants) {
    const result = await runPhoneLoad(variant, vendors, spoken, plan, {
      onServer: (server) => {
        if (profiles) void profile(server);
      },
    });
    const title = `${VARIANT_TITLES[variant]}, ${callers} calls`;
    console.log(describePhoneLoad(title, result).join("\n"));
  }
  await vendors.process.stop();
}

async function profile({ process }: ServerStand): Promise<void> {
  const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
  await wait(22_000);
  const inspector = await Inspector.attach(process.inspectorUrl ?? "");
  await inspector.startProfile();
  await wait(15_000);
  for (const { name, place, share } of await inspector.hottest(HOTTEST)) {
    console.log(`${(share * 100).toFixed(1).padStart(5)} %  ${name}  ${place}`);
  }
  inspector.close();
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await main();
