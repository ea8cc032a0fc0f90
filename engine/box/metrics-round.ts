import { boxMetricsText, type Metric } from "../metrics/box-metrics.js";
import type { Clock } from "../time/clock.js";
import { within } from "../time/deadline.js";
import type { MemberLink } from "./box-questions.js";

/** A session process that says nothing for so long is left out of the page. */
const ROUND_MAX_MS = 2_000;

type Members = ReadonlyMap<number, { readonly link: Pick<MemberLink, "ask"> }>;

/** The page of `/metrics` for the whole box, in the text form of Prometheus: `own` are those of the owner's process. */
export async function boxMetricsPage(
  members: Members,
  own: readonly Metric[],
  clock: Clock,
): Promise<string> {
  const pages: (readonly Metric[])[] = [own];
  const asked = [...members.values()].map(async ({ link }) => {
    // One that ends meanwhile has no metrics.
    const page = await link.ask("metrics", undefined).catch(() => undefined);
    if (page !== undefined) pages.push(page);
  });
  await within(clock, ROUND_MAX_MS, Promise.all(asked));
  return boxMetricsText([...pages]);
}
