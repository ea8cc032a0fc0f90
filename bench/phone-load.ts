import { pathToFileURL } from "node:url";
import * as v from "valibot";
import {
  type CallLoadResult,
  type LoadCallers,
  type LoadPlan,
  phrasesNeeded,
  runCallLoad,
} from "./call-load.js";
import { pinThisProcess } from "./child-process.js";
import { Inspector } from "./inspector.js";
import { PhoneJitter } from "./phone-jitter.js";
import { callersOfRelay, callersOfServer, startPhoneRelayStand } from "./phone-stand.js";
import { PHONE_SOUND, type Phrase, phrases } from "./phrases.js";
import { startPreparedVendors } from "./prepared-vendors.js";
import { quantile } from "./quantile.js";
import { readGauges } from "./server-gauges.js";
import { overTls, type ServerStand, startServerStand, type VendorStand } from "./stand.js";
import type { VoiceVendor } from "./turn-timing.js";

export interface PhoneLoadResult extends CallLoadResult {
  /** Between two frames of the agent's audio at the caller, beside 20 ms; without the burst where speech begins. */
  readonly jitterMs: readonly number[];
  /** Gaps in sentences that played faster than they came, as the server counts them; NaN for the relay, which does not. */
  readonly underruns: number;
}

export interface PhoneLoadOptions {
  /** Settings of the server beside those of every stand. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly onServer?: (server: ServerStand) => void;
  /** Called where the measured time ends, with all calls still there. */
  readonly onMeasured?: (server: ServerStand) => void;
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
  const { environment, onServer, onMeasured } = options;
  const server = isRelay
    ? await startPhoneRelayStand(vendors)
    : await startServerStand(vendors, undefined, environment);
  onServer?.(server);
  try {
    const jitter = new PhoneJitter();
    const asked: LoadCallers = isRelay
      ? callersOfRelay(server, jitter)
      : await callersOfServer(server, variant, jitter);
    const callers: LoadCallers = {
      ...asked,
      measuring(isOn) {
        asked.measuring?.(isOn);
        if (!isOn) onMeasured?.(server);
      },
    };
    const result = await runCallLoad(server, vendors, spoken, plan, callers);
    const gauges = isRelay ? undefined : await readGauges(server.url);
    const underruns = gauges?.get("parley_underruns_total") ?? Number.NaN;
    return { ...result, jitterMs: jitter.errorsMs, underruns };
  } finally {
    await server.close();
  }
}

export function phonePhrases(plan: LoadPlan): readonly Phrase[] {
  return phrases(phrasesNeeded(plan), PHONE_SOUND);
}

const SPREAD = [0.5, 0.9, 0.99, 1];

export function describePhoneLoad(who: string, result: PhoneLoadResult): readonly string[] {
  const { timings, turnCount, lostCount, missedReplies } = result;
  const spread = (values: readonly number[]) =>
    SPREAD.map((share) => quantile(values, share).toFixed(2)).join(" / ");
  const part = (name: keyof (typeof timings)[number]) => spread(timings.map((one) => one[name]));
  const kilobytes = (bytes: number) => `${Math.round(bytes / 1_000)} kB`;
  return [
    `${who}: ${turnCount} turns, ${lostCount} not followed, ${missedReplies} not answered; p50 / p90 / p99 / max in ms`,
    `  caller's last speech to the recognizer: ${part("audioMs")}`,
    `  end of speech to the model: ${part("questionMs")}`,
    `  first sentence to the voice: ${part("sentenceMs")}`,
    `  its audio to the caller: ${part("playMs")}`,
    `  added in all: ${part("totalMs")}`,
    `  barge-in (${result.bargeInsMs.length}): ${spread(result.bargeInsMs)}`,
    `  jitter (${result.jitterMs.length}): ${spread(result.jitterMs)}`,
    `  gaps in sentences: ${result.underruns}`,
    `  CPU ${result.cpuMsPerCallSecond.toFixed(2)} ms per second of call`,
    `  memory: ${Math.round(result.idleResidentBytes / 1e6)} MB idle, then ${kilobytes(result.residentBytesPerCall)} a call, ${kilobytes(result.uncollectedBytesPerCall)} with garbage`,
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
