import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { UTTERANCES } from "./paused-utterances.js";
import { type Listening, type Outcome, recognize } from "./recognized-utterance.js";

interface Result {
  readonly nova: readonly Outcome[];
  readonly flux: readonly Outcome[];
}

const RESULTS: ReadonlyMap<string, Result> = new Map(
  Object.entries(UTTERANCES).map(([kind, utterances]) => {
    const heardBy = (listening: Listening) => utterances.map((one) => recognize(one, listening));
    return [kind, { nova: heardBy("nova"), flux: heardBy("flux") }];
  }),
);
const ALL: Result = {
  nova: [...RESULTS.values()].flatMap(({ nova }) => nova),
  flux: [...RESULTS.values()].flatMap(({ flux }) => flux),
};

function sum(outcomes: readonly Outcome[], of: keyof Outcome): number {
  return outcomes.reduce((all, outcome) => all + outcome[of], 0);
}

function meanDelayMs(outcomes: readonly Outcome[]): number {
  return Math.round(sum(outcomes, "delayMs") / outcomes.length);
}

/** As it stands in the documents. */
function rowOf(kind: string, { nova, flux }: Result): string {
  const cutOffs = `${sum(nova, "cutOffs")} | ${sum(flux, "cutOffs")}`;
  const delays = `${meanDelayMs(nova)} | ${meanDelayMs(flux)}`;
  return `| ${kind} | ${nova.length} | ${cutOffs} | ${delays} | ${sum(flux, "dropped")} |`;
}

test("a recognizer that decides turns cuts off a quarter of the callers at most, at no more delay", () => {
  const { nova, flux } = ALL;
  assert.ok(sum(nova, "cutOffs") >= 10, "the suite is hard enough to tell");
  assert.ok(sum(flux, "cutOffs") * 4 <= sum(nova, "cutOffs"), rowOf("all", ALL));
  assert.ok(meanDelayMs(flux) <= meanDelayMs(nova), rowOf("all", ALL));
});

test("every utterance is answered, and early where the end is only likely", () => {
  for (const { delayMs } of [...ALL.nova, ...ALL.flux]) assert.ok(delayMs >= 0 && delayMs < 2_000);
  assert.ok(ALL.flux.some(({ preemptiveMs }) => preemptiveMs >= 300));
});

test("the documents say what was found", () => {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, "package.json"))) folder = dirname(folder);
  const page = readFileSync(join(folder, "docs/guides/turn-taking.md"), "utf8");
  const rows = [...RESULTS, ["all", ALL] as const].map(([kind, result]) => rowOf(kind, result));
  assert.deepEqual(
    rows.filter((row) => !page.includes(row)),
    [],
  );
});
