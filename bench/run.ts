import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { judge, readBudgets, type Verdict } from "./budget.js";
import { pinThisProcess } from "./child-process.js";
import { type Machine, thisMachine } from "./machine.js";
import { AudioBatchScenario, FullPhoneScenario, PhoneLoadScenario } from "./phone-scenarios.js";
import {
  CallLoadScenario,
  type Scenario,
  SoakScenario,
  StartUpScenario,
  TransitionScenario,
} from "./scenarios.js";
import { verdictTable } from "./verdict-table.js";

/**
 * Everything, at length: `npm run bench -- [calls of the soak] [name of the results]`. Results named `web-calls` are of the
 * calls from browsers alone.
 */
const SOAK_CALLS = Number(process.argv[2] ?? 10_000);
const NAME = process.argv[3] ?? "all-scenarios";
const PLAN = {
  callers: 100,
  settleMs: 6_000,
  measureMs: 60_000,
  turnPeriodMs: 9_000,
  interruptEvery: 4,
};
const PHONE_PLAN = { ...PLAN, callers: 200, measureMs: 30_000 };
const FULL_PHONE_PLAN = { ...PHONE_PLAN, callers: 500, measureMs: 20_000, turnPeriodMs: 12_000 };
const START_UPS = 5;
const RESULTS = fileURLToPath(new URL("../../bench/results/", import.meta.url));

interface Section {
  readonly name: string;
  readonly verdicts: readonly Verdict[];
  readonly details: readonly string[];
}

const budgets = readBudgets();

async function measure(scenario: Scenario): Promise<Section> {
  console.log(`${scenario.name} …`);
  const { measurements, details } = await scenario.run();
  await scenario.close?.();
  const verdicts = measurements.map((one) => judge(one, budgets[one.name]));
  console.log(verdictTable(verdicts));
  return { name: scenario.name, verdicts, details };
}

function write(machine: Machine, sections: readonly Section[]): string {
  const date = new Date().toISOString().slice(0, 10);
  mkdirSync(RESULTS, { recursive: true });
  const path = `${RESULTS}${date}-${NAME}`;
  writeFileSync(`${path}.json`, `${JSON.stringify({ date, machine, sections }, undefined, 2)}\n`);
  const facts = Object.entries(machine).map(([name, value]) => `- ${name}: ${value}`);
  const parts = sections.map(({ name, verdicts, details }) =>
    [`## ${name}`, verdictTable(verdicts), ...codeBlock(details)].join("\n\n"),
  );
  writeFileSync(`${path}.md`, [`# ${date}`, facts.join("\n"), ...parts].join("\n\n").concat("\n"));
  return path;
}

function codeBlock(lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [["```", ...lines, "```"].join("\n")];
}

pinThisProcess();
const machine = thisMachine();
const phoneScenarios: readonly Scenario[] = [
  new AudioBatchScenario(),
  new PhoneLoadScenario(PHONE_PLAN, { withMp3: true }),
  new FullPhoneScenario(FULL_PHONE_PLAN),
];
const scenarios: readonly Scenario[] = [
  new TransitionScenario(),
  new StartUpScenario(START_UPS),
  new CallLoadScenario(PLAN),
  ...(NAME === "web-calls" ? [] : phoneScenarios),
  new SoakScenario(SOAK_CALLS),
];
const sections: Section[] = [];
for (const scenario of scenarios) sections.push(await measure(scenario));
console.log(`written to ${write(machine, sections)}.md`);
