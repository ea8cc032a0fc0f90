import { Caller } from "../../engine/sandbox/caller.js";
import type { AttackedServer } from "./attacked-server.js";
import type { Findings } from "./findings.js";

/** Opens so many calls at once, which must all be taken, and hangs them up. */
export async function requireSlots(
  { url, apiKey }: AttackedServer,
  count: number,
  findings: Findings,
): Promise<void> {
  const dialled = Array.from({ length: count }, () => Caller.connect({ url, apiKey }));
  const opened = await Promise.allSettled(dialled);
  const callers = opened.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  findings.demand(callers.length === count, "the slot of a call that is over is in use");
  await Promise.all(callers.map((caller) => caller.hangUp()));
}
