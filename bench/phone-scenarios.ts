import type { Measurement, MeasureName } from "./budget.js";
import type { LoadPlan } from "./call-load.js";
import {
  describePhoneLoad,
  type PhoneLoadResult,
  type PhoneVariant,
  phonePhrases,
  runPhoneLoad,
} from "./phone-load.js";
import type { Phrase } from "./phrases.js";
import { startPreparedVendors } from "./prepared-vendors.js";
import { quantile } from "./quantile.js";
import { addedMs, type Scenario, type ScenarioResult } from "./scenarios.js";
import type { VendorStand } from "./stand.js";

export interface PhoneScenarioOptions {
  /** Also a voice whose MP3 the audio pool turns into µ-law; making it beforehand takes longer than the run itself. */
  readonly withMp3: boolean;
}

/** The relay, once, then the server with a voice that speaks µ-law itself: under the same load, each in its own process. */
export class PhoneLoadScenario implements Scenario {
  readonly name: string;
  readonly #plan: LoadPlan;
  readonly #withMp3: boolean;
  readonly retryShare = 0.5;
  #phrases: readonly Phrase[] = [];
  #vendors: VendorStand | undefined;
  #relay: PhoneLoadResult | undefined;

  constructor(plan: LoadPlan, { withMp3 }: PhoneScenarioOptions) {
    this.#withMp3 = withMp3;
    this.name = `${plan.callers} telephone calls at the same time`;
    this.#plan = plan;
  }

  async run(): Promise<ScenarioResult> {
    const vendors = await this.#prepared();
    const load = (variant: PhoneVariant) =>
      runPhoneLoad(variant, vendors, this.#phrases, this.#plan);
    this.#relay ??= await load("relay");
    const relay = this.#relay;
    const mulaw = await load("elevenlabs");
    const measurements = comparison(mulaw, relay);
    const details = [
      ...describePhoneLoad("relay", relay),
      ...describePhoneLoad("server, µ-law of the vendor", mulaw),
    ];
    if (!this.#withMp3) return { measurements, details };
    const mp3 = await load("openaiSpeech");
    return {
      measurements: [...measurements, ...comparisonOfMp3(mp3, relay)],
      details: [...details, ...describePhoneLoad("server, MP3 through the audio pool", mp3)],
    };
  }

  async close(): Promise<void> {
    await this.#vendors?.process.stop();
  }

  async #prepared(): Promise<VendorStand> {
    if (this.#vendors !== undefined) return this.#vendors;
    this.#phrases = phonePhrases(this.#plan);
    this.#vendors = await startPreparedVendors(
      this.#phrases,
      this.#withMp3 ? ["elevenlabs", "openaiSpeech"] : ["elevenlabs"],
    );
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

function comparison(server: PhoneLoadResult, relay: PhoneLoadResult): readonly Measurement[] {
  const compare = comparer(server, relay);
  return [
    compare("phoneLatencyP50", (result) => addedMs(result, 0.5)),
    compare("phoneLatencyP99", (result) => addedMs(result, 0.99)),
    compare("phoneBargeInP99", ({ bargeInsMs }) => quantile(bargeInsMs, 0.99)),
    compare("phoneJitterP99", ({ jitterMs }) => quantile(jitterMs, 0.99)),
    compare("phoneCpuPerCallSecond", ({ cpuMsPerCallSecond }) => cpuMsPerCallSecond),
    compare("phoneResidentPerCall", ({ residentBytesPerCall }) => residentBytesPerCall / 1_000),
  ];
}

function comparisonOfMp3(server: PhoneLoadResult, relay: PhoneLoadResult): readonly Measurement[] {
  const compare = comparer(server, relay);
  return [
    compare("phoneMp3LatencyP99", (result) => addedMs(result, 0.99)),
    compare("phoneMp3CpuPerCallSecond", ({ cpuMsPerCallSecond }) => cpuMsPerCallSecond),
    compare("phoneMp3ResidentPerCall", ({ residentBytesPerCall }) => residentBytesPerCall / 1_000),
  ];
}
