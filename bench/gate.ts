import { better, judge, readBudgets, type Verdict } from "./budget.js";
import { LiveStreamScenario } from "./livestream/livestream-load.js";
import { IdleScenario } from "./load/idle.js";
import { TlsLoadScenario } from "./load/tls-scenario.js";
import { PhoneLoadScenario } from "./phone/phone-scenarios.js";
import { JUDGED_REQUESTS, RestScenario } from "./rest/rest-scenarios.js";
import {
  CallLoadScenario,
  type Scenario,
  SoakScenario,
  StartUpScenario,
  TransitionScenario,
} from "./scenarios.js";
import { pinThisProcess } from "./stand/child-process.js";
import { verdictTable } from "./verdict-table.js";

/**
 * Fails the build when a budget is missed. Build machines are shared, and another tenant's burst doubles a p99. So what
 * was missed is measured again while there is time, and the best try is judged: bursts do not come each time, slow code
 * does. Each try measures its own relay: one that was lucky once would fail every try after it.
 */
const TRIES_MAX = 3;
/**
 * No further try begins that would end after this. A first try of each scenario takes nine minutes together, the longest not quite
 * three: that one has to fit behind a second try of two others.
 */
const RETRY_UNTIL_MS = 800_000;
const PLAN = {
  callers: 100,
  settleMs: 2_000,
  measureMs: 12_000,
  // The reply to an interruption has begun 1 s before the next turn: cut off at its first word, it would be asked again with that.
  turnPeriodMs: 10_000,
  interruptEvery: 4,
};
/** Two loads in a minute. */
const SHORT_PLAN = { ...PLAN, measureMs: 8_000 };
const REST_ROUNDS = 2;
const START_UPS = 3;
const SOAK_CALLS = 500;

const budgets = readBudgets();
const startMs = performance.now();

/** One scenario with all of its tries. */
class Gate {
  readonly #scenario: Scenario;
  #verdicts: readonly Verdict[] = [];
  #tries = 0;
  #firstMs = 0;

  constructor(scenario: Scenario) {
    this.#scenario = scenario;
  }

  get verdicts(): readonly Verdict[] {
    return this.#verdicts;
  }

  get isOpen(): boolean {
    return this.#tries > 0 && this.#verdicts.every(({ isMet }) => isMet);
  }

  /** What waits to be tried again with less behind it comes first, and of those the quickest: most are tried twice then. */
  comesBefore(other: Gate): boolean {
    if (this.#tries !== other.#tries) return this.#tries < other.#tries;
    return this.#firstMs < other.#firstMs;
  }

  get mayTryAgain(): boolean {
    const endMs = performance.now() - startMs + this.#firstMs;
    return !this.isOpen && this.#tries < TRIES_MAX && endMs < RETRY_UNTIL_MS;
  }

  async try(): Promise<void> {
    const fromMs = performance.now();
    const { measurements, details } = await this.#scenario.run();
    this.#tries += 1;
    const tookMs = performance.now() - fromMs;
    if (this.#tries === 1) this.#firstMs = tookMs;
    const seconds = Math.round(tookMs / 1_000);
    console.log(`${this.#scenario.name}, try ${this.#tries}: ${seconds} s`);
    const latest = measurements.map((one) => judge(one, budgets[one.name]));
    this.#verdicts = latest.map((verdict) => {
      const earlier = this.#verdicts.find(({ name }) => name === verdict.name);
      return earlier === undefined ? verdict : better(earlier, verdict);
    });
    const missed = latest.filter(({ isMet }) => !isMet);
    if (missed.length === 0) return;
    console.log(verdictTable(missed));
    for (const line of details) console.log(`  ${line}`);
  }

  async close(): Promise<void> {
    await this.#scenario.close?.();
  }
}

function nextToTry(): Gate | undefined {
  const missed = gates.filter(({ mayTryAgain }) => mayTryAgain);
  return missed.reduce<Gate | undefined>(
    (first, gate) => (first === undefined || gate.comesBefore(first) ? gate : first),
    undefined,
  );
}

pinThisProcess();
const gates = [
  new TransitionScenario(),
  new StartUpScenario(START_UPS),
  new IdleScenario(),
  new SoakScenario(SOAK_CALLS),
  new RestScenario(REST_ROUNDS, JUDGED_REQUESTS),
  new LiveStreamScenario(),
  new CallLoadScenario(PLAN),
  new CallLoadScenario(SHORT_PLAN, { stream: "pcm24k" }),
  new PhoneLoadScenario(PLAN, { withMp3: false }),
  new TlsLoadScenario(SHORT_PLAN),
].map((scenario) => new Gate(scenario));
for (const gate of gates) await gate.try();
for (let next = nextToTry(); next !== undefined; next = nextToTry()) await next.try();
for (const gate of gates) await gate.close();
console.log(verdictTable(gates.flatMap(({ verdicts }) => verdicts)));
console.log(`\n${Math.round((performance.now() - startMs) / 1_000)} s`);
process.exitCode = gates.every(({ isOpen }) => isOpen) ? 0 : 1;
