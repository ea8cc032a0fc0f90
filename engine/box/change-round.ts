import type { Clock } from "../time/clock.js";
import { within } from "../time/deadline.js";
import type { MemberLink } from "./box-questions.js";

/** Nobody uses what he has read longer ago, so a process that stands still need not be waited for any longer. */
const ROUND_MAX_MS = 1_000;

type Members = ReadonlyMap<number, { readonly link: Pick<MemberLink, "ask"> }>;

/** Tells all but `asker` that what they keep in memory may be out of date; resolves when they know. */
export async function tellRecordsChanged(
  members: Members,
  asker: number | undefined,
  clock: Clock,
): Promise<void> {
  const others = [...members].filter(([name]) => name !== asker);
  const told = others.map(([, { link }]) =>
    // One that ends meanwhile keeps nothing.
    link.ask("recordsChanged", undefined).catch(() => {}),
  );
  await within(clock, ROUND_MAX_MS, Promise.all(told));
}
