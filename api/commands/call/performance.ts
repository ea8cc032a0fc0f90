import { setTimeout as pause } from "node:timers/promises";
import type { Step } from "./call-options.js";
import type { Conversation } from "./conversation.js";
import { Interrupter, LOOK_MS } from "./interrupter.js";
import type { Turn } from "./turn.js";

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
  const interrupter = new Interrupter(conversation.medium.leftMsMin);
  while (!turn.isOver && !interrupter.isNow(leftMs(turn))) await pause(LOOK_MS);
  return !turn.isOver;
}

/** What has come of the reply and has not been played yet. */
function leftMs(turn: Turn): number {
  return Number((turn.playbackEndsNs ?? 0n) - process.hrtime.bigint()) / 1e6;
}
