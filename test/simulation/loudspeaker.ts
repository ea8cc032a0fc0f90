import type { TurnReport } from "../../engine/conversation/effects.js";
import type { SentenceHoles } from "./sentence-holes.js";

/** What the caller hears the agent by. */
export interface Loudspeaker {
  readonly holes: SentenceHoles;
  play(turnId: number, index: number, comeMs: number, isWhole: boolean): void;
  /** More of a sentence has come; one that is not being played is no matter. */
  grow(turnId: number, index: number, comeMs: number, isWhole: boolean): void;
  /** No more of it comes. */
  cut(turnId: number, index: number): void;
  hold(): void;
  resume(): void;
  clear(): void;
  /** The caller makes a sound: who speaks is not kept waiting. */
  forgetHole(): void;
  /** Nothing more of the turn comes. */
  endTurn(report: TurnReport): void;
  /** How much of a sentence the caller has heard. */
  heardMs(turnId: number, index: number): number;
}
