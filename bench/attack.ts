import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { SystemClock } from "../engine/time/clock.js";
import { within } from "../engine/time/deadline.js";
import { ATTACKS } from "./attack/all-attacks.js";
import type { Attack } from "./attack/attack.js";
import { attackReport, hasBroken, type Outcome, outcomeTable } from "./attack/attack-report.js";
import { AttackStand } from "./attack/attack-stand.js";
import { Findings } from "./attack/findings.js";
import { inRows } from "./attack/rows.js";
import { thisMachine } from "./machine.js";

/**
 * Attacks a real server in every way of the table, and says what held: `npm run attack`. `--only` takes names with commas
 * between, `--sample` tries a little of everything that is quick, `--seed` has an earlier run again. Exit code 1 when
 * something broke.
 */
const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "10" },
    only: { type: "string", default: "" },
    seed: { type: "string" },
    sample: { type: "boolean", default: false },
  },
});
const REPORT = fileURLToPath(new URL("../../bench/results/attack.md", import.meta.url));
/** Beyond its time an attack finishes what it has begun. */
const OVERTIME_MAX_MS = 120_000;
/** Most of a sample is waiting; a whole run has one server at a time. */
const SAMPLE_ROWS = 4;

const minutes = numberOf("minutes", values.minutes);
const isSample = values.sample;
const date = new Date().toISOString().slice(0, 10);
const seed = values.seed === undefined ? Date.now() % 1_000_000 : numberOf("seed", values.seed);
const chosen = attacksChosen();
const weights = chosen.reduce((sum, { weight }) => sum + weight, 0);

function numberOf(name: string, text: string): number {
  const number = Number(text);
  if (text !== "" && Number.isFinite(number) && number >= 0) return number;
  return refuse(`--${name}: expected a number, not "${text}"`);
}

function attacksChosen(): readonly Attack[] {
  const names = values.only.split(",").filter((name) => name !== "");
  const unknown = names.filter((name) => ATTACKS.every((attack) => attack.name !== name));
  if (unknown.length > 0) {
    const known = ATTACKS.map(({ name }) => name).join(", ");
    return refuse(`--only: there is no ${unknown.join(", ")}; there are ${known}`);
  }
  return ATTACKS.filter(
    ({ name, sampleMs }) =>
      (names.length === 0 || names.includes(name)) && (!isSample || sampleMs !== undefined),
  );
}

function refuse(why: string): never {
  console.error(why);
  process.exit(2);
}

async function carryOut(attack: Attack): Promise<Outcome> {
  const beganMs = performance.now();
  const findings = new Findings();
  const timeMs = isSample ? (attack.sampleMs ?? 0) : (minutes * 60_000 * attack.weight) / weights;
  const stand = new AttackStand({ seed, isSample, timeMs, findings });
  try {
    const run = attack.run(stand, findings);
    const isDone = await within(new SystemClock(), timeMs + OVERTIME_MAX_MS, run);
    findings.demand(isDone, "the attack came to no end");
  } catch (error) {
    findings.demand(false, `the attack itself failed: ${told(error)}`);
  }
  await stand.close();
  return { attack, findings, tookMs: performance.now() - beganMs };
}

/** With its cause, which says what `fetch` does not. */
function told(error: unknown): string {
  if (!(error instanceof Error)) return "something that is no error";
  return error.cause === undefined ? error.message : `${error.message} (${told(error.cause)})`;
}

const outcomes: Outcome[] = [];
await inRows(isSample ? SAMPLE_ROWS : 1, chosen, async (attack) => {
  const outcome = await carryOut(attack);
  const { tries, broke } = outcome.findings;
  const seconds = Math.round(outcome.tookMs / 1_000);
  console.log(`${attack.name}: ${tries} tries, ${broke} broke, ${seconds} s`);
  outcomes.push(outcome);
});
console.log(`\nseed ${seed}\n${outcomeTable(outcomes)}`);
if (!isSample && values.only === "") {
  const command = ["npm run attack --", ...process.argv.slice(2)].join(" ");
  mkdirSync(fileURLToPath(new URL(".", `file://${REPORT}`)), { recursive: true });
  const run = { machine: thisMachine(), date, seed, command };
  writeFileSync(REPORT, attackReport(run, outcomes));
  console.log("written to bench/results/attack.md");
}
process.exit(outcomes.some(hasBroken) ? 1 : 0);
