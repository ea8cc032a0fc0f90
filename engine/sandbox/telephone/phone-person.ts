import type { PhoneCaller } from "./phone-caller.js";

/** Said one after the other, each when the agent has finished. */
const SENTENCES = ["Hello, my name is Ada.", "Say goodbye."];
/** Some agents have no greeting. */
const GREETING_MAX_MS = 5_000;
/** A server gives a stalled reply two attempts of 7 s and then apologizes. */
const REPLY_MAX_MS = 30_000;

/** A called person: listens, speaks in turns and hangs up. Never rejects; returns early when the call is over. */
export async function converse(caller: PhoneCaller): Promise<void> {
  await listen(caller, 0n, GREETING_MAX_MS);
  try {
    for (const sentence of SENTENCES) {
      const { endNs } = await caller.say(sentence);
      await listen(caller, endNs, REPLY_MAX_MS);
    }
  } catch {
    // The agent hung up, or transferred the call.
  }
  await caller.hangUp();
}

/** Until the agent has said something after that moment and is quiet again, or the timeout. */
async function listen(caller: PhoneCaller, sinceNs: bigint, timeoutMs: number): Promise<void> {
  const isQuiet = ({ type, atNs }: { readonly type: string; readonly atNs: bigint }) =>
    type === "quiet" && atNs > sinceNs;
  await caller.until(isQuiet, timeoutMs).catch(() => undefined);
}
