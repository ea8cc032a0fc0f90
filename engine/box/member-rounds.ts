import { boxMetricsText, type Metric } from "../metrics/box-metrics.js";
import type { Clock } from "../time/clock.js";
import { within } from "../time/deadline.js";
import type { MemberLink, MemberQuestions } from "./box-questions.js";

/** Nobody uses what he has read longer ago, so a process that stands still need not be waited for any longer. */
const CHANGE_MAX_MS = 1_000;
/** A session process that says nothing for so long is left out of the page. */
const METRICS_MAX_MS = 2_000;

type Members = ReadonlyMap<number, { readonly link: Pick<MemberLink, "ask"> }>;

/** Tells all but `asker` that what they keep in memory may be out of date; resolves when they know. */
export async function tellRecordsChanged(
  members: Members,
  asker: number | undefined,
  clock: Clock,
): Promise<void> {
  const others = new Map([...members].filter(([name]) => name !== asker));
  await askAll(others, "recordsChanged", clock, CHANGE_MAX_MS);
}

/** The page of `/metrics` for the whole box, in the text form of Prometheus: `own` are those of the owner's process. */
export async function boxMetricsPage(
  members: Members,
  own: readonly Metric[],
  clock: Clock,
): Promise<string> {
  const pages = await askAll(members, "metrics", clock, METRICS_MAX_MS);
  return boxMetricsText([own, ...pages]);
}

/** The answers that have come within `maxMs`. One that ends meanwhile keeps nothing, and gives none. */
async function askAll<Question extends "metrics" | "recordsChanged">(
  members: Members,
  question: Question,
  clock: Clock,
  maxMs: number,
): Promise<readonly MemberQuestions[Question]["answers"][]> {
  const answers: MemberQuestions[Question]["answers"][] = [];
  const asked = [...members.values()].map(async ({ link }) => {
    await link.ask(question, undefined).then(
      (answer) => answers.push(answer),
      () => undefined,
    );
  });
  await within(clock, maxMs, Promise.all(asked));
  // Who answers later changes nothing any more.
  return [...answers];
}
