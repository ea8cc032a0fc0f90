import type { Measurement, MeasureName } from "./budget.js";
import type { LoadPlan } from "./call-load.js";
import {
  describePhoneLoad,
  type PhoneLoadResult,
  type PhoneVariant,
  phonePhrases,
  runPhoneLoad,
  VARIANT_TITLES,
} from "./phone-load.js";
import type { Phrase } from "./phrases.js";
import { setVoices, startPreparedVendors } from "./prepared-vendors.js";
import { quantile } from "./quantile.js";
import { addedMs, type Scenario, type ScenarioResult, type TransportOptions } from "./scenarios.js";
import { overTls, type VendorStand } from "./stand.js";
import type { VoiceVendor } from "./turn-timing.js";

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
 * More calls than one wants on a box: nobody may be lost. Of two cores the server has one, and its callers and vendors the
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
  const p50 = (result: PhoneLoadResult) => addedMs(result, 0.5);
  const cpu = ({ cpuMsPerCallSecond }: PhoneLoadResult) => cpuMsPerCallSecond;
  const resident = ({ residentBytesPerCall }: PhoneLoadResult) => residentBytesPerCall / 1_000;
  if (mulaw !== undefined) {
    const compare = comparer(mulaw, relay);
    measurements.push(
      compare("phoneLatencyP50", p50),
      compare("phoneLatencyP99", (result) => addedMs(result, 0.99)),
      compare("phoneBargeInP50", ({ bargeInsMs }) => quantile(bargeInsMs, 0.5)),
      compare("phoneBargeInP99", ({ bargeInsMs }) => quantile(bargeInsMs, 0.99)),
      compare("phoneJitterP99", ({ jitterMs }) => quantile(jitterMs, 0.99)),
      compare("phoneCpuPerCallSecond", cpu),
      compare("phoneResidentPerCall", resident),
    );
  }
  measurements.push({ name: "phoneUnderruns", measured: uneven.underruns });
  for (const [voice, names] of CONVERTED) {
    const result = results.get(voice);
    if (result === undefined || mulaw === undefined) continue;
    measurements.push(
      comparer(result, mulaw)(names.latency, p50),
      comparer(result, relay)(names.cpu, cpu),
      comparer(result, relay)(names.resident, resident),
    );
  }
  return measurements;
}

/** Voices whose audio no telephone takes as it comes, and what is measured of them. */
const CONVERTED = [
  [
    "openaiSpeech",
    {
      latency: "phonePcmLatencyP50",
      cpu: "phonePcmCpuPerCallSecond",
      resident: "phonePcmResidentPerCall",
    },
  ],
  [
    "edge",
    {
      latency: "phoneMp3LatencyP50",
      cpu: "phoneMp3CpuPerCallSecond",
      resident: "phoneMp3ResidentPerCall",
    },
  ],
] as const satisfies readonly (readonly [VoiceVendor, Readonly<Record<string, MeasureName>>])[];
