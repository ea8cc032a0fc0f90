import type { Measurement, MeasureName } from "../budget.js";
import type { LoadPlan } from "../load/call-load.js";
import type { Phrase } from "../load/phrases.js";
import type { VoiceVendor } from "../load/turn-timing.js";
import { quantile } from "../quantile.js";
import {
  addedMs,
  type Scenario,
  type ScenarioResult,
  type TransportOptions,
} from "../scenarios.js";
import { setVoices, startPreparedVendors } from "../stand/prepared-vendors.js";
import { overTls, type VendorStand } from "../stand/stand.js";
import {
  describePhoneLoad,
  type PhoneLoadResult,
  type PhoneVariant,
  phonePhrases,
  runPhoneLoad,
  VARIANT_TITLES,
} from "./phone-load.js";

export interface PhoneScenarioOptions extends TransportOptions {
  /** Also a voice that speaks MP3 only; making it beforehand takes longer than the run itself. */
  readonly withMp3: boolean;
}

/** How fast a poor voice delivers, and how unevenly: the caller is to notice neither. */
const UNEVEN_VOICE = { realTimeFactor: 1.5, jitterMs: 50 };

/**
 * The relay, then the server with voices that speak µ-law and PCM, and a poor one: under the same load, each in its
 * own process.
 */
export class PhoneLoadScenario implements Scenario {
  readonly name: string;
  readonly #plan: LoadPlan;
  readonly #isTls: boolean;
  readonly #voices: readonly VoiceVendor[];
  #phrases: readonly Phrase[] = [];
  #vendors: VendorStand | undefined;

  constructor(plan: LoadPlan, { withMp3, isTls = false }: PhoneScenarioOptions) {
    this.#isTls = isTls;
    this.#voices = withMp3
      ? ["elevenlabs", "openaiSpeech", "edge"]
      : ["elevenlabs", "openaiSpeech"];
    this.name = `${plan.callers} telephone calls at the same time${isTls ? ", vendors over TLS" : ""}`;
    this.#plan = plan;
  }

  async run(): Promise<ScenarioResult> {
    const vendors = await this.#prepared();
    const load = (variant: PhoneVariant) =>
      runPhoneLoad(variant, vendors, this.#phrases, this.#plan);
    const relay = await load("relay");
    const results = new Map<PhoneVariant, PhoneLoadResult>([["relay", relay]]);
    for (const voice of this.#voices) results.set(voice, await load(voice));
    await setVoices(vendors, UNEVEN_VOICE);
    const uneven = await load("elevenlabs");
    await setVoices(vendors);
    const details = [...results].flatMap(([variant, result]) =>
      describePhoneLoad(VARIANT_TITLES[variant], result),
    );
    return {
      measurements: comparison(results, relay, uneven),
      details: [...details, ...describePhoneLoad("server, a poor voice", uneven)],
    };
  }

  async close(): Promise<void> {
    await this.#vendors?.process.stop();
  }

  async #prepared(): Promise<VendorStand> {
    if (this.#vendors !== undefined) return this.#vendors;
    this.#phrases = phonePhrases(this.#plan);
    const vendors = await startPreparedVendors(this.#phrases, this.#voices);
    this.#vendors = this.#isTls ? overTls(vendors) : vendors;
    return this.#vendors;
  }
}

/**
 * The relay, a µ-law voice and one that speaks MP3 only, with so few callers that their MP3 is made in seconds. What only says
 * something of many calls is measured with more: memory, and the first turns of a fresh server.
 */
export class Mp3PhoneScenario implements Scenario {
  readonly name: string;
  readonly #plan: LoadPlan;
  #phrases: readonly Phrase[] = [];
  #vendors: VendorStand | undefined;

  constructor(plan: LoadPlan) {
    this.name = `${plan.callers} telephone calls with MP3`;
    this.#plan = plan;
  }

  async run(): Promise<ScenarioResult> {
    if (this.#phrases.length === 0) this.#phrases = phonePhrases(this.#plan);
    this.#vendors ??= await startPreparedVendors(this.#phrases, ["edge"]);
    const vendors = this.#vendors;
    const load = (variant: PhoneVariant) =>
      runPhoneLoad(variant, vendors, this.#phrases, this.#plan);
    const relay = await load("relay");
    const mulaw = await load("elevenlabs");
    const mp3 = await load("edge");
    const results = { relay, elevenlabs: mulaw, edge: mp3 } as const;
    return {
      measurements: convertedBeside(MP3_NAMES, mp3, mulaw, relay),
      details: (["relay", "elevenlabs", "edge"] as const).flatMap((variant) =>
        describePhoneLoad(VARIANT_TITLES[variant], results[variant]),
      ),
    };
  }

  async close(): Promise<void> {
    await this.#vendors?.process.stop();
  }
}

/**
 * More calls than one wants on a server: nobody may be lost. Of two cores the server has one, and its callers and vendors the
 * other, which they nearly fill: on fewer cores or beside other work it is they who are measured.
 */
export class FullPhoneScenario implements Scenario {
  readonly name: string;
  readonly #plan: LoadPlan;

  constructor(plan: LoadPlan) {
    this.name = `a full box: ${plan.callers} telephone calls`;
    this.#plan = plan;
  }

  async run(): Promise<ScenarioResult> {
    const spoken = phonePhrases(this.#plan);
    const vendors = await startPreparedVendors(spoken, ["elevenlabs"]);
    try {
      const result = await runPhoneLoad("elevenlabs", vendors, spoken, this.#plan);
      return {
        measurements: [
          { name: "fullPhoneLatencyP99", measured: addedMs(result, 0.99) },
          { name: "fullPhoneMissedReplies", measured: result.missedReplies },
        ],
        details: describePhoneLoad("server", result),
      };
    } finally {
      await vendors.process.stop();
    }
  }
}

const addedP50 = (result: PhoneLoadResult) => addedMs(result, 0.5);
const firstSoundOfFreshP50 = ({ first }: PhoneLoadResult) => addedMs(first, 0.5, "playMs");
const soundP50 = (result: PhoneLoadResult) => addedMs(result, 0.5, "playMs");
const cpu = ({ cpuMsPerCallSecond }: PhoneLoadResult) => cpuMsPerCallSecond;

function comparer(server: PhoneLoadResult, relay: PhoneLoadResult) {
  return (name: MeasureName, pick: (result: PhoneLoadResult) => number): Measurement => ({
    name,
    measured: pick(server),
    reference: pick(relay),
  });
}

function comparison(
  results: ReadonlyMap<PhoneVariant, PhoneLoadResult>,
  relay: PhoneLoadResult,
  uneven: PhoneLoadResult,
): readonly Measurement[] {
  const measurements: Measurement[] = [];
  const mulaw = results.get("elevenlabs");
  const resident = ({ residentBytesPerCall }: PhoneLoadResult) => residentBytesPerCall / 1_000;
  if (mulaw !== undefined) {
    const compare = comparer(mulaw, relay);
    measurements.push(
      compare("phoneLatencyP50", addedP50),
      compare("phoneLatencyP99", (result) => addedMs(result, 0.99)),
      compare("phoneBargeInP50", ({ bargeInsMs }) => quantile(bargeInsMs, 0.5)),
      compare("phoneBargeInP99", ({ bargeInsMs }) => quantile(bargeInsMs, 0.99)),
      compare("phoneJitterP99", ({ jitterMs }) => quantile(jitterMs, 0.99)),
      compare("phoneCpuPerCallSecond", cpu),
      compare("phoneResidentPerCall", resident),
      compare("phoneFirstSoundP50", soundP50),
    );
  }
  const { underruns, rigGaps: rig } = uneven;
  measurements.push({ name: "phoneUnderruns", measured: underruns, reference: rig.sent });
  for (const [voice, names] of CONVERTED) {
    const result = results.get(voice);
    if (result === undefined || mulaw === undefined) continue;
    measurements.push(
      ...convertedBeside(names, result, mulaw, relay),
      comparer(result, mulaw)(names.firstTurns, firstSoundOfFreshP50),
      comparer(result, relay)(names.firstSound, soundP50),
      comparer(result, relay)(names.resident, resident),
    );
  }
  return measurements;
}

/** What a voice costs whose audio is converted: its wait beside that for a µ-law voice, and the relay's CPU. */
function convertedBeside(
  names: ConvertedNames,
  result: PhoneLoadResult,
  mulaw: PhoneLoadResult,
  relay: PhoneLoadResult,
): readonly Measurement[] {
  return [
    comparer(result, mulaw)(names.latency, addedP50),
    comparer(result, relay)(names.cpu, cpu),
  ];
}

const MP3_NAMES = {
  latency: "phoneMp3LatencyP50",
  firstTurns: "phoneMp3FirstTurnsP50",
  firstSound: "phoneMp3FirstSoundP50",
  cpu: "phoneMp3CpuPerCallSecond",
  resident: "phoneMp3ResidentPerCall",
} as const;

type ConvertedNames = (typeof CONVERTED)[number][1];

/** Voices whose audio no telephone takes as it comes, and what is measured of them. */
const CONVERTED = [
  [
    "openaiSpeech",
    {
      latency: "phonePcmLatencyP50",
      firstTurns: "phonePcmFirstTurnsP50",
      firstSound: "phonePcmFirstSoundP50",
      cpu: "phonePcmCpuPerCallSecond",
      resident: "phonePcmResidentPerCall",
    },
  ],
  ["edge", MP3_NAMES],
] as const satisfies readonly (readonly [VoiceVendor, Readonly<Record<string, MeasureName>>])[];
