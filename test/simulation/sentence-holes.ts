import type { TurnReport } from "../../engine/session/effects.js";

/** Silences in the middle of a sentence, up to whatever of the same turn was heard next. */
export class SentenceHoles {
  readonly durationsMs: number[] = [];
  #silent: { readonly turnId: number; readonly sinceMs: number } | undefined;

  get longestMs(): number {
    return Math.max(0, ...this.durationsMs);
  }

  begin(turnId: number, sinceMs: number): void {
    this.#silent ??= { turnId, sinceMs };
  }

  /** Something of that turn is heard. */
  end(turnId: number, atMs: number): void {
    if (this.#silent?.turnId === turnId) this.durationsMs.push(atMs - this.#silent.sinceMs);
    this.#silent = undefined;
  }

  /** The caller makes a sound: who speaks is not kept waiting. */
  forget(): void {
    this.#silent = undefined;
  }

  /** Nothing more of the turn comes; a hole that its caller did not end has no end. */
  endTurn({ turn, outcome }: TurnReport): void {
    if (this.#silent?.turnId !== turn) return;
    const isUnended = outcome === "failed" || outcome === "played";
    if (isUnended) this.durationsMs.push(Number.POSITIVE_INFINITY);
    this.#silent = undefined;
  }
}
