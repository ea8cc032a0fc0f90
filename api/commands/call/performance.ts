import { setTimeout as pause } from "node:timers/promises";
import type { Step } from "./call-options.js";
import type { Conversation } from "./conversation.js";
import type { Turn } from "./turn.js";

/** Somebody who interrupts has heard a word or two. */
const LISTENING_MS = 800;
const LOOK_MS = 20;

/** Says the lines of a script in their order; resolves when the agent has finished its last reply. */
export async function perform(conversation: Conversation, steps: readonly Step[]): Promise<void> {
  let turn: Turn = conversation.greeting;
  await conversation.greetingBegan();
  for (const { kind, text } of steps) {
    if (kind === "interrupt" && (await isCaughtTalking(conversation, turn))) {
      turn = await conversation.interrupt(text);
    } else {
      await conversation.over(turn);
      turn = await conversation.say(text);
    }
  }
  await conversation.over(turn);
}

/** False for a reply that was too short to be interrupted. */
async function isCaughtTalking(conversation: Conversation, turn: Turn): Promise<boolean> {
  if (turn.kind === "greeting" && !turn.hasAudio) return false;
  await conversation.talking(turn);
  const { leftMsMin } = conversation.medium;
  for (let heardMs = 0; heardMs < LISTENING_MS && leftMs(turn) > leftMsMin; heardMs += LOOK_MS) {
    await pause(LOOK_MS);
  }
  return !turn.isOver;
}

/** What has come of the reply and has not been played yet. */
function leftMs(turn: Turn): number {
  return Number((turn.playbackEndsNs ?? 0n) - process.hrtime.bigint()) / 1e6;
}
