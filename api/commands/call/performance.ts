import { setTimeout as pause } from "node:timers/promises";
import type { Step } from "./call-options.js";
import type { Conversation } from "./conversation.js";
import type { Turn } from "./turn.js";

/** How often a reply is checked. */
export const LOOK_MS = 20;
/** A caller hears a word or two before interrupting. */
const LISTENING_MS = 800;

/** Checks a reply every 20 ms and decides when to interrupt it. */
export class Interrupter {
  readonly #leftMsMin: number;
  #heardMs = 0;

  /** `leftMsMin`: the unplayed audio that a reply must have to be interrupted reliably. */
  constructor(leftMsMin: number) {
    this.#leftMsMin = leftMsMin;
  }

  /**
   * Whether to interrupt now. `leftMs`: received audio that is not played yet; negative: ms of silence since it ended.
   */
  isNow(leftMs: number): boolean {
    if (leftMs > 0) this.#heardMs += LOOK_MS;
    return this.#heardMs >= LISTENING_MS || leftMs <= this.#leftMsMin;
  }
}

/** Says the lines of a script in order. Resolves when the agent has finished its last reply. */
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

/** Resolves to false if the reply was too short to be interrupted. */
async function isCaughtTalking(conversation: Conversation, turn: Turn): Promise<boolean> {
  if (turn.kind === "greeting" && !turn.hasAudio) return false;
  await conversation.talking(turn);
  const interrupter = new Interrupter(conversation.medium.minRemainingMs);
  while (!turn.isOver && !interrupter.isNow(leftMs(turn))) await pause(LOOK_MS);
  return !turn.isOver;
}

/** The received audio of the reply that has not been played yet. */
function leftMs(turn: Turn): number {
  return Number((turn.playbackEndsNs ?? 0n) - process.hrtime.bigint()) / 1e6;
}
