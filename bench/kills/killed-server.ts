import { setTimeout as sleep } from "node:timers/promises";
import * as v from "valibot";
import { checkPostgres } from "../../storage/postgres/postgres-check.js";
import type { Measurement, MeasureName } from "../budget.js";
import { quantile } from "../quantile.js";
import type { Scenario, ScenarioResult } from "../scenarios.js";
import { KilledCaller } from "./killed-caller.js";
import { type KilledStand, standOfProcesses, standOfServers } from "./killed-stand.js";

const CALLS = 40;
const CALL_EVERY_MS = 50;
/** People do not speak in chorus: the first words of all are spread over one turn of words and reply. */
const TALK_SPREAD_MS = 6_000;
/** Everybody has had replies; then the kill falls into another moment of them in each round. */
const SETTLE_MS = 12_000;
const KILL_SPREAD_MS = 5_000;
/** What is measured of the others. */
const WATCHED_MS = 7_000;
const REST_MAX_MS = 40_000;
const POLL_MS = 200;
/** A round in which fewer were hit, or spared, says nothing. */
const SIDE_MIN = 5;

const Calls = v.object({
  items: v.array(
    v.object({ _id: v.string(), status: v.string(), metadata: v.record(v.string(), v.unknown()) }),
  ),
});

interface Round {
  readonly killedAfterMs: number;
  readonly broken: number;
  /** From the kill until each had heard that the line was interrupted. */
  readonly backMs: readonly number[];
  /** Between two frames of a reply, heard after the kill by those who were spared. */
  readonly gapsMs: readonly number[];
  /** Those that the same callers heard before it, which is what the machine does anyway. */
  readonly gapsBeforeMs: readonly number[];
  readonly wrong: readonly string[];
}

interface Victim {
  readonly title: string;
  readonly start: () => Promise<KilledStand>;
  readonly measures: readonly [back: MeasureName, gap: MeasureName, wrong: MeasureName];
}

export const ONE_OF_TWO_SERVERS: Victim = {
  title: "one of two servers",
  start: standOfServers,
  measures: ["killedServerBack", "killedServerGap", "killedServerWrong"],
};
export const ONE_OF_TWO_PROCESSES: Victim = {
  title: "one of two processes of a server",
  start: standOfProcesses,
  measures: ["killedProcessBack", "killedProcessGap", "killedProcessWrong"],
};

/** kill -9 under telephone calls. */
export class KillScenario implements Scenario {
  readonly name: string;
  readonly #victim: Victim;
  readonly #rounds: number;

  constructor(victim: Victim, rounds: number) {
    this.#victim = victim;
    this.#rounds = rounds;
    this.name = `kill -9 of ${victim.title} under ${CALLS} telephone calls, ${rounds} times`;
  }

  async run(): Promise<ScenarioResult> {
    const rounds = await this.#killed();
    return { measurements: measured(rounds, this.#victim), details: rounds.map(rowOf) };
  }

  async #killed(): Promise<readonly Round[]> {
    const stand = await this.#victim.start();
    const rounds: Round[] = [];
    try {
      for (let round = 0; round < this.#rounds; round += 1) {
        const killedAfterMs = SETTLE_MS + (KILL_SPREAD_MS * round) / this.#rounds;
        const latest = await runRound(stand, round, killedAfterMs);
        rounds.push(latest);
        console.log(rowOf(latest, round));
        if (round + 1 < this.#rounds) await stand.mend(round);
      }
      return rounds;
    } finally {
      await stand.close();
    }
  }
}

async function runRound(stand: KilledStand, round: number, killedAfterMs: number): Promise<Round> {
  const living = stand.living(round);
  const failedBefore = (await living.calls("&status=failed")).total;
  const totalBefore = (await living.calls()).total;
  const query = new URLSearchParams({ api_key: living.apiKey });
  const webhookUrl = `${stand.url}/api/telephony/voice?${query.toString()}`;
  const callers = await Promise.all(
    Array.from({ length: CALLS }, async (_, index) => {
      await sleep(index * CALL_EVERY_MS);
      return KilledCaller.call(webhookUrl);
    }),
  );
  for (const [index, caller] of callers.entries()) caller.talk((index * TALK_SPREAD_MS) / CALLS);
  await sleep(killedAfterMs);
  const before = new Map(callers.map((caller) => [caller, caller.gapsMs.length]));
  const killedAtMs = performance.now();
  await stand.kill(round);
  await sleep(WATCHED_MS);
  const spared = callers.filter(({ isBroken }) => !isBroken);
  const gapsMs = spared.flatMap((caller) => caller.gapsMs.slice(before.get(caller)));
  const gapsBeforeMs = spared.flatMap((caller) => caller.gapsMs.slice(0, before.get(caller)));
  const faults = await Promise.all(callers.map((caller) => caller.finish()));
  const broken = callers.filter(({ isBroken }) => isBroken);
  const wrong = faults.filter((fault) => fault !== undefined);
  if (Math.min(broken.length, CALLS - broken.length) < SIDE_MIN) {
    wrong.push(`${broken.length} of ${CALLS} calls were with what was killed`);
  }
  await atRest(stand, round);
  const failed = (await living.calls("&status=failed")).total - failedBefore;
  const total = (await living.calls()).total - totalBefore;
  if (failed !== broken.length) wrong.push(`${failed} failed records of ${broken.length} calls`);
  if (total !== CALLS + broken.length) wrong.push(`${total} records of ${CALLS} calls`);
  wrong.push(...(await wrongRecords(stand, round, CALLS + broken.length)));
  return {
    killedAfterMs,
    broken: broken.length,
    backMs: broken.map(({ backAtMs }) => (backAtMs ?? Number.POSITIVE_INFINITY) - killedAtMs),
    gapsMs,
    gapsBeforeMs,
    wrong,
  };
}

/** Resolves when no call is active and no slot is taken, or when that took too long: what is left is found afterwards. */
async function atRest(stand: KilledStand, round: number): Promise<void> {
  const deadlineMs = performance.now() + REST_MAX_MS;
  const isAtRest = async () =>
    (await stand.living(round).activeCount()) === 0 && (await slotCount(stand)) === 0;
  while (performance.now() < deadlineMs && !(await isAtRest())) await sleep(POLL_MS);
}

async function slotCount({ cluster, databaseUrl }: KilledStand): Promise<number> {
  const { rowCount } = await cluster.query(`select 1 from "callSlots"`, databaseUrl);
  return rowCount ?? 0;
}

/** What is wrong with the newest calls, slots and totals when all is over. */
async function wrongRecords(stand: KilledStand, round: number, count: number) {
  const living = stand.living(round);
  const wrong: string[] = [];
  const { items } = await living.read(Calls, "GET", `/api/dashboard/calls?limit=${count}`);
  const completed = new Set(
    items.filter(({ status }) => status === "completed").map(({ _id }) => _id),
  );
  for (const { status, metadata } of items) {
    if (status === "active") wrong.push("a call stayed active");
    const next = metadata["continuedBy"];
    if (status === "failed" && !(typeof next === "string" && completed.has(next))) {
      wrong.push("a call that broke names no call that continued it");
    }
  }
  const slots = await slotCount(stand);
  if (slots > 0) wrong.push(`${slots} slots stayed taken`);
  return [...wrong, ...(await checkPostgres(stand.databaseUrl)).findings];
}

function measured(
  rounds: readonly Round[],
  { measures: [back, gap, wrong] }: Victim,
): readonly Measurement[] {
  return [
    { name: back, measured: Math.max(...rounds.flatMap(({ backMs }) => backMs)) },
    {
      name: gap,
      measured: Math.max(...rounds.map(({ gapsMs }) => quantile(gapsMs, 0.99))),
      reference: Math.max(...rounds.map(({ gapsBeforeMs }) => quantile(gapsBeforeMs, 0.99))),
    },
    { name: wrong, measured: rounds.flatMap((round) => round.wrong).length },
  ];
}

function rowOf(round: Round, index: number): string {
  const { killedAfterMs, broken, backMs, gapsMs, gapsBeforeMs, wrong } = round;
  const gaps = (values: readonly number[]) =>
    `p99 ${quantile(values, 0.99).toFixed(1)} ms, worst ${quantile(values, 1).toFixed(1)} ms (${values.length})`;
  const back = (quantile(backMs, 1) / 1_000).toFixed(2);
  const said = wrong.length === 0 ? "" : `; wrong: ${[...new Set(wrong)].join("; ")}`;
  return `  ${index + 1}: after ${(killedAfterMs / 1_000).toFixed(2)} s, ${broken} of ${CALLS} broken, back after ${back} s at the latest; gaps of the others ${gaps(gapsMs)}, before it ${gaps(gapsBeforeMs)}${said}`;
}
