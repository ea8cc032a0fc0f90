import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { DatabasesScenario, RestDatabasesScenario, WorkersScenario } from "./box-scenarios.js";
import { judge, readBudgets, type Verdict } from "./budget.js";
import { KillScenario, ONE_OF_TWO_PROCESSES, ONE_OF_TWO_SERVERS } from "./kills/killed-server.js";
import { LiveStreamScenario } from "./livestream/livestream-load.js";
import { ChainCostScenario } from "./load/chain-cost.js";
import { IdleScenario } from "./load/idle.js";
import { TlsLoadScenario } from "./load/tls-scenario.js";
import { type Machine, thisMachine } from "./machine.js";
import { FullPhoneScenario, Mp3PhoneScenario, PhoneLoadScenario } from "./phone/phone-scenarios.js";
import { PhoneWordsScenario } from "./phone/phone-words.js";
import { ROUNDS } from "./rest/rest-load.js";
import {
  BesideCallsScenario,
  BesideDashboardsScenario,
  RestPagesScenario,
  RestScenario,
} from "./rest/rest-scenarios.js";
import {
  CallLoadScenario,
  type Scenario,
  SoakScenario,
  StartUpScenario,
  TransitionScenario,
} from "./scenarios.js";
import { pinThisProcess } from "./stand/child-process.js";
import { verdictTable } from "./verdict-table.js";

const COUNT_ASKED = /^--(rounds|settle)=([1-9]\d*)$/;
const SOAK_CALLS = 10_000;
/** `--settle=90`: telephone calls are measured after so many seconds, when a server has compiled what it runs often. */
const settleSec = countAsked("settle");
const PLAN = {
  callers: 100,
  settleMs: 6_000,
  measureMs: 60_000,
  turnPeriodMs: 10_000,
  interruptEvery: 4,
};
const PHONE_PLAN = {
  ...PLAN,
  callers: 200,
  measureMs: 30_000,
  settleMs: settleSec === undefined ? PLAN.settleMs : settleSec * 1_000,
};
/** Each sentence of MP3 takes the simulated voice a fiftieth of a second beforehand. */
const MP3_PLAN = { ...PLAN, callers: 30, measureMs: 6_000 };
const CHAIN_PLAN = { ...PLAN, measureMs: 30_000 };
const FULL_PHONE_PLAN = { ...PHONE_PLAN, callers: 500, measureMs: 20_000, turnPeriodMs: 12_000 };
const START_UPS = 5;
const KILL_ROUNDS = 20;
const DATABASE_PAIRS = 3;
const WORKER_ROUNDS = 2;
const RESULTS = fileURLToPath(new URL("../../bench/results/", import.meta.url));

const isTls = process.argv.includes("--tls");
/** `--rounds=3`: as many kills, pairs of databases, or runs of each number of processes, in place of those that are judged. */
const roundsAsked = countAsked("rounds");

/** Everything, at length: `npm run bench`, or `npm run bench -- rest phone`; `web` and `phone` also with `--tls`. */
const SCENARIOS: Readonly<Record<string, () => Scenario>> = {
  transition: () => new TransitionScenario(),
  start: () => new StartUpScenario(START_UPS),
  idle: () => new IdleScenario(),
  web: () => new CallLoadScenario(PLAN, { isTls }),
  "web-stream": () => new CallLoadScenario(PLAN, { isTls, stream: "pcm24k" }),
  "phone-mp3": () => new Mp3PhoneScenario(MP3_PLAN),
  phone: () => new PhoneLoadScenario(PHONE_PLAN, { withMp3: true, isTls }),
  words: () => new PhoneWordsScenario(PHONE_PLAN.callers),
  full: () => new FullPhoneScenario(FULL_PHONE_PLAN),
  rest: () => new RestScenario(ROUNDS),
  pages: () => new RestPagesScenario(),
  beside: () => new BesideCallsScenario(),
  dashboards: () => new BesideDashboardsScenario(),
  streams: () => new LiveStreamScenario(),
  tls: () => new TlsLoadScenario(PHONE_PLAN),
  chain: () => new ChainCostScenario(CHAIN_PLAN),
  soak: () => new SoakScenario(SOAK_CALLS),
  databases: () => new DatabasesScenario(PHONE_PLAN, roundsAsked ?? DATABASE_PAIRS),
  "databases-rest": () => new RestDatabasesScenario(roundsAsked ?? ROUNDS),
  workers: () => new WorkersScenario(PHONE_PLAN, roundsAsked ?? WORKER_ROUNDS),
  "killed-server": () => new KillScenario(ONE_OF_TWO_SERVERS, roundsAsked ?? KILL_ROUNDS),
  "killed-process": () => new KillScenario(ONE_OF_TWO_PROCESSES, roundsAsked ?? KILL_ROUNDS),
};

function countAsked(name: string): number | undefined {
  const words = process.argv.map((word) => COUNT_ASKED.exec(word));
  const count = words.find((word) => word?.[1] === name)?.[2];
  return count === undefined ? undefined : Number(count);
}

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
  console.log([verdictTable(verdicts), ...details].join("\n"));
  return { name: scenario.name, verdicts, details };
}

function write(machine: Machine, name: string, sections: readonly Section[]): string {
  const date = new Date().toISOString().slice(0, 10);
  mkdirSync(RESULTS, { recursive: true });
  const path = `${RESULTS}${date}-${name}.md`;
  const facts = Object.entries(machine).map(([fact, value]) => `- ${fact}: ${value}`);
  const parts = sections.map((section) =>
    [`## ${section.name}`, verdictTable(section.verdicts), ...codeBlock(section.details)].join(
      "\n\n",
    ),
  );
  const title = `# ${date}, \`npm run bench\``;
  writeFileSync(path, [title, facts.join("\n"), ...parts].join("\n\n").concat("\n"));
  return path;
}

function codeBlock(lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [["```", ...lines, "```"].join("\n")];
}

const asked = process.argv.slice(2).filter((word) => word !== "--tls" && !COUNT_ASKED.test(word));
const unknown = asked.filter((name) => !(name in SCENARIOS));
if (unknown.length > 0) {
  console.error(`unknown: ${unknown.join(", ")}; known: ${Object.keys(SCENARIOS).join(", ")}`);
  process.exit(1);
}
pinThisProcess();
const machine = thisMachine();
const sections: Section[] = [];
for (const [name, scenario] of Object.entries(SCENARIOS)) {
  if (asked.length === 0 || asked.includes(name)) sections.push(await measure(scenario()));
}
const ending = `${isTls ? "-over-tls" : ""}${settleSec === undefined ? "" : `-settled-${settleSec}-s`}`;
const title = `${asked.length === 0 ? "all" : asked.join("-")}${ending}`;
console.log(`written to ${write(machine, title, sections)}`);
