import type { TurnReport } from "../../engine/conversation/effects.js";

/** Silences in the middle of a sentence, up to whatever of the same turn was heard next. */
export class SentenceHoles {
  readonly durationsMs: number[] = [];
  /** Those that nothing ended but the end of the turn. */
  readonly givenUpMs: number[] = [];
  #silent: { readonly turnId: number; readonly sinceMs: number; cutAtMs?: number } | undefined;

  get longestMs(): number {
    return Math.max(0, ...this.durationsMs, ...this.givenUpMs);
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

  /** Nothing more of the sentence comes. */
  cut(atMs: number): void {
    if (this.#silent !== undefined) this.#silent.cutAtMs = atMs;
  }

  /** Nothing more of the turn comes; a hole that its caller did not end is one that was given up. */
  endTurn({ turn, outcome }: TurnReport, atMs: number): void {
    if (this.#silent?.turnId !== turn) return;
    const isUnended = outcome === "failed" || outcome === "played";
    const { sinceMs, cutAtMs = atMs } = this.#silent;
    if (isUnended) this.givenUpMs.push(cutAtMs - sinceMs);
    this.#silent = undefined;
  }
}
