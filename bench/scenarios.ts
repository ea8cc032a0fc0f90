import type { Measurement, MeasureName } from "./budget.js";
import {
  type CallLoadResult,
  type FollowedTurns,
  type LoadPlan,
  phrasesNeeded,
  runCallLoad,
  webCallers,
} from "./load/call-load.js";
import { type Phrase, phrases } from "./load/phrases.js";
import { soak } from "./load/soak.js";
import { measureStartUp } from "./load/start-up.js";
import { measureTransition } from "./load/transition.js";
import type { TurnTiming } from "./load/turn-timing.js";
import { quantile } from "./quantile.js";
import { startPreparedVendors } from "./stand/prepared-vendors.js";
import {
  overTls,
  type ServerStand,
  startRelayStand,
  startServerStand,
  startVendors,
  type VendorStand,
} from "./stand/stand.js";

/** A group of measures that are taken together, and taken again together. */
export interface Scenario {
  readonly name: string;
  run(): Promise<ScenarioResult>;
  close?(): Promise<void>;
}

export interface ScenarioResult {
  readonly measurements: readonly Measurement[];
  /** More about the run, for whoever looks for the reason of a number. */
  readonly details: readonly string[];
}

/** With more of the spoken turns lost than this share, the rest may not be the same kind of turns. */
const LOST_SHARE_MAX = 0.1;

export interface TransportOptions {
  /** Relay and server reach the vendors over TLS, as they do in production. */
  readonly isTls?: boolean;
}

/** The relay and then the server under the same load, each in its own process. */
export class CallLoadScenario implements Scenario {
  readonly name: string;
  readonly #plan: LoadPlan;
  readonly #isTls: boolean;
  readonly #stream: "pcm24k" | undefined;
  #vendors: VendorStand | undefined;
  #phrases: readonly Phrase[] = [];

  /** With `stream`, the agent's voice comes in pieces of that encoding, instead of whole sentences. */
  constructor(
    plan: LoadPlan,
    { isTls = false, stream }: TransportOptions & { readonly stream?: "pcm24k" } = {},
  ) {
    const streamed = stream === undefined ? "" : ", streamed";
    this.name = `${plan.callers} calls at the same time${streamed}${isTls ? ", vendors over TLS" : ""}`;
    this.#plan = plan;
    this.#isTls = isTls;
    this.#stream = stream;
  }

  async run(): Promise<ScenarioResult> {
    const vendors = await this.#prepared();
    const reference = await this.#load(await startRelayStand(vendors), vendors);
    const measured = await this.#load(await startServerStand(vendors), vendors);
    return {
      measurements: comparison(
        measured,
        reference,
        this.#stream === undefined ? SENTENCE_MEASURES : STREAM_MEASURES,
      ),
      details: [...describe("relay", reference), ...describe("server", measured)],
    };
  }

  async close(): Promise<void> {
    await this.#vendors?.process.stop();
  }

  async #load(server: ServerStand, vendors: VendorStand): Promise<CallLoadResult> {
    try {
      const callers = webCallers(server, this.#stream);
      return await runCallLoad(server, vendors, this.#phrases, this.#plan, callers);
    } finally {
      await server.close();
    }
  }

  async #prepared(): Promise<VendorStand> {
    if (this.#vendors !== undefined) return this.#vendors;
    this.#phrases = phrases(phrasesNeeded(this.#plan));
    const voice = this.#stream === undefined ? "webMp3" : "openaiSpeech";
    const vendors = await startPreparedVendors(this.#phrases, [voice]);
    this.#vendors = this.#isTls ? overTls(vendors) : vendors;
    return this.#vendors;
  }
}

export class TransitionScenario implements Scenario {
  readonly name = "transition";

  run(): Promise<ScenarioResult> {
    const { eventsPerSecond, referencePerSecond } = measureTransition();
    const reference = referencePerSecond;
    const measurements: Measurement[] = [
      { name: "transitionRate", measured: eventsPerSecond, reference },
    ];
    return Promise.resolve({ measurements, details: [] });
  }
}

export class StartUpScenario implements Scenario {
  readonly name = "start-up";
  readonly #repeats: number;

  constructor(repeats: number) {
    this.#repeats = repeats;
  }

  async run(): Promise<ScenarioResult> {
    const vendors = await startVendors();
    try {
      const { freshMs, againMs, referenceMs } = await measureStartUp(vendors, this.#repeats);
      const measurements: Measurement[] = [
        { name: "startUpFresh", measured: freshMs, reference: referenceMs },
        { name: "startUpAgain", measured: againMs, reference: referenceMs },
      ];
      return { measurements, details: [] };
    } finally {
      await vendors.process.stop();
    }
  }
}

export class SoakScenario implements Scenario {
  readonly name: string;
  readonly #count: number;

  constructor(count: number) {
    this.name = `soak of ${count} calls`;
    this.#count = count;
  }

  async run(): Promise<ScenarioResult> {
    const { measurements, reasons } = await soak(this.#count);
    return { measurements, details: reasons };
  }
}

interface CallMeasures {
  readonly latencyP50: MeasureName;
  readonly latencyP99: MeasureName;
  readonly bargeInP50: MeasureName;
  readonly bargeInP99: MeasureName;
  readonly cpu: MeasureName;
  readonly resident: MeasureName;
  /** From the first byte of the voice to the caller's first sound, where the voice is passed on as it comes. */
  readonly firstSoundP50?: MeasureName;
}
const SENTENCE_MEASURES: CallMeasures = {
  latencyP50: "addedLatencyP50",
  latencyP99: "addedLatencyP99",
  bargeInP50: "bargeInP50",
  bargeInP99: "bargeInP99",
  cpu: "cpuPerCallSecond",
  resident: "residentPerCall",
};
const STREAM_MEASURES: CallMeasures = {
  latencyP50: "streamLatencyP50",
  latencyP99: "streamLatencyP99",
  bargeInP50: "streamBargeInP50",
  bargeInP99: "streamBargeInP99",
  cpu: "streamCpuPerCallSecond",
  resident: "streamResidentPerCall",
  firstSoundP50: "streamFirstSoundP50",
};

function comparison(
  server: CallLoadResult,
  relay: CallLoadResult,
  names: CallMeasures,
): readonly Measurement[] {
  const compare = (name: MeasureName, pick: (result: CallLoadResult) => number): Measurement => ({
    name,
    measured: pick(server),
    reference: pick(relay),
  });
  const { firstSoundP50 } = names;
  const playMs = (result: CallLoadResult) => addedMs(result, 0.5, "playMs");
  return [
    compare(names.latencyP50, (result) => addedMs(result, 0.5)),
    compare(names.latencyP99, (result) => addedMs(result, 0.99)),
    compare(names.bargeInP50, ({ bargeInsMs }) => quantile(bargeInsMs, 0.5)),
    compare(names.bargeInP99, ({ bargeInsMs }) => quantile(bargeInsMs, 0.99)),
    compare(names.cpu, ({ cpuMsPerCallSecond }) => cpuMsPerCallSecond),
    compare(names.resident, ({ residentBytesPerCall }) => residentBytesPerCall / 1_000),
    ...(firstSoundP50 === undefined ? [] : [compare(firstSoundP50, playMs)]),
  ];
}

/** NaN, which no budget takes, when too many turns could not be followed. */
export function addedMs(
  turns: Pick<FollowedTurns, "timings" | "turnCount" | "lostCount">,
  share: number,
  part: keyof TurnTiming = "totalMs",
): number {
  const { timings, turnCount, lostCount } = turns;
  if (lostCount > turnCount * LOST_SHARE_MAX) return Number.NaN;
  return quantile(
    timings.map((timing) => timing[part]),
    share,
  );
}

const PARTS = [
  ["audioMs", "caller's last speech to the recognizer"],
  ["questionMs", "end of speech to the model"],
  ["sentenceMs", "first sentence to the voice"],
  ["playMs", "its audio to the caller"],
  ["totalMs", "added in all"],
] as const;

function describe(who: string, result: CallLoadResult): readonly string[] {
  const { timings, bargeInsMs, turnCount, lostCount, missedReplies } = result;
  const spread = (values: readonly number[]) =>
    [0.5, 0.9, 0.99, 1].map((share) => quantile(values, share).toFixed(2)).join(" / ");
  return [
    `${who}: ${turnCount} turns, ${lostCount} not followed, ${missedReplies} not answered; p50 / p90 / p99 / max in ms`,
    ...PARTS.map(([part, title]) => `  ${title}: ${spread(timings.map((one) => one[part]))}`),
    `  barge-in (${bargeInsMs.length}): ${spread(bargeInsMs)}`,
    `  CPU ${result.cpuMsPerCallSecond.toFixed(2)} ms per second of call`,
    `  memory: ${Math.round(result.idleResidentBytes / 1e6)} MB idle, then ${kilobytes(result.residentBytesPerCall)} a call, ${kilobytes(result.uncollectedBytesPerCall)} with garbage`,
  ];
}

function kilobytes(bytes: number): string {
  return `${Math.round(bytes / 1_000)} kB`;
}
