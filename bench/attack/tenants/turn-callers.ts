import { setTimeout as sleep } from "node:timers/promises";
import * as v from "valibot";
import { Caller } from "../../../engine/sandbox/caller.js";
import { shortPhrase } from "../../load/phrases.js";

/**
 * Callers of the organization that is measured, as a process of their own: URL, API_KEY, AGENT_ID, CALLERS. Prints a line for each
 * turn, `turn 612.4`: the ms from the caller's last frame to the first sound of the reply, or `missed` with the reason.
 */
const {
  URL: url,
  API_KEY: apiKey,
  AGENT_ID: agentId,
  CALLERS: callers,
} = v.parse(
  v.object({ URL: v.string(), API_KEY: v.string(), AGENT_ID: v.string(), CALLERS: v.string() }),
  process.env,
);
const count = Number(callers);
const RAMP_MS = 2_000;
const REPLY_MAX_MS = 15_000;
const PAUSE_MS = 500;
/** Different words, so that no reply is in a cache. */
const PHRASES = 400;

const phrases = Array.from({ length: PHRASES }, (_, number) => shortPhrase(number));
let next = 0;

async function talk(index: number): Promise<void> {
  await sleep((index * RAMP_MS) / count);
  const caller = await Caller.connect({
    url,
    apiKey,
    agentId,
    keepsAudio: false,
    stream: "pcm24k",
  });
  for (;;) {
    const phrase = phrases[next % PHRASES];
    next += 1;
    if (phrase === undefined) return;
    const { endNs } = await caller.play(phrase.text, phrase.audio);
    const isReply = (type: string) => (event: { readonly type: string; readonly atNs: bigint }) =>
      event.type === type && event.atNs > endNs;
    const { atNs } = await caller.until(isReply("audio"), REPLY_MAX_MS);
    console.log(`turn ${(Number(atNs - endNs) / 1e6).toFixed(1)}`);
    await caller.until(isReply("audioEnd"), REPLY_MAX_MS);
    await sleep(PAUSE_MS);
  }
}

console.log("ready");
for (let index = 0; index < count; index += 1) {
  talk(index).catch((error: unknown) => {
    console.log(`missed ${error instanceof Error ? error.message : "without a reason"}`);
  });
}
