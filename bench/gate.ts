import { judge, type Measurement, type MeasureName, readBudgets, type Verdict } from "./budget.js";
import { pinThisProcess } from "./child-process.js";
import {
  CallLoadScenario,
  type Scenario,
  SoakScenario,
  StartUpScenario,
  TransitionScenario,
} from "./scenarios.js";
import { verdictTable } from "./verdict-table.js";

/**
 * Fails the build when a budget is missed. Build machines are shared and noisy: another tenant's burst doubles a p99.
 * So a miss is measured twice again, and the median of the three is judged: a burst does not come three times, slow
 * code does.
 */
const TRIES_AFTER_MISS = 3;
const PLAN = {
  callers: 100,
  settleMs: 4_000,
  measureMs: 20_000,
  turnPeriodMs: 9_000,
  interruptEvery: 4,
};
const START_UPS = 3;
const SOAK_CALLS = 500;

const budgets = readBudgets();

async function judgeScenario(scenario: Scenario): Promise<readonly Verdict[]> {
  const tries: (readonly Measurement[])[] = [];
  let verdicts: readonly Verdict[] = [];
  while (tries.length < TRIES_AFTER_MISS) {
    const startMs = performance.now();
    const { measurements, details } = await scenario.run();
    const seconds = Math.round((performance.now() - startMs) / 1_000);
    console.log(`${scenario.name}, try ${tries.length + 1}: ${seconds} s`);
    tries.push(measurements);
    verdicts = measurements.map(({ name }) => judge(medianOf(tries, name), budgets[name]));
    const missed = verdicts.filter(({ isMet }) => !isMet);
    if (missed.length === 0 && tries.length === 1) break;
    console.log(verdictTable(missed));
    for (const line of details) console.log(`  ${line}`);
  }
  await scenario.close?.();
  return verdicts;
}

/** By the ratio where that is what gates: a slow moment slows both sides. What could not be measured is the worst. */
function medianOf(tries: readonly (readonly Measurement[])[], name: MeasureName): Measurement {
  const { absoluteMax } = budgets[name];
  const rank = ({ measured, reference = 1 }: Measurement) => {
    const value = absoluteMax === undefined ? measured / reference : measured;
    return Number.isNaN(value) ? Number.POSITIVE_INFINITY : value;
  };
  const all = tries
    .flatMap((measurements) => measurements.filter((one) => one.name === name))
    .toSorted((one, other) => rank(one) - rank(other));
  return all[Math.floor(all.length / 2)] ?? { name, measured: Number.NaN };
}

pinThisProcess();
const startMs = performance.now();
const scenarios: readonly Scenario[] = [
  new TransitionScenario(),
  new StartUpScenario(START_UPS),
  new SoakScenario(SOAK_CALLS),
  new CallLoadScenario(PLAN),
];
const verdicts: Verdict[] = [];
for (const scenario of scenarios) verdicts.push(...(await judgeScenario(scenario)));
console.log(verdictTable(verdicts));
console.log(`\n${Math.round((performance.now() - startMs) / 1_000)} s`);
process.exitCode = verdicts.every(({ isMet }) => isMet) ? 0 : 1;
