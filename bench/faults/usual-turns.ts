import { Caller } from "../../engine/sandbox/caller.js";
import type { FaultStand } from "./fault-stand.js";

/** Twenty beginnings of a model or a voice must be known before its deadline is its own. */
const CALLS = 5;
const TURNS = 5;
const TURN_MAX_MS = 10_000;

/** Calls side by side that go well: of vendors that nobody has used, more is forgiven. */
export async function takeUsualTurns(stand: FaultStand): Promise<void> {
  await Promise.all(Array.from({ length: CALLS }, () => usualCall(stand)));
}

async function usualCall({ url, apiKey, agentId }: FaultStand): Promise<void> {
  const caller = await Caller.connect({ url, apiKey, agentId, stream: "pcm24k" });
  const written = JSON.stringify({ type: "written", text: "say Yes." });
  for (let turn = 0; turn < TURNS; turn++) {
    caller.send(written);
    await caller.until(({ type }) => type === "audioEnd", TURN_MAX_MS);
  }
  await caller.hangUp();
}
