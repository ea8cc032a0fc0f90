/** Different breaks that are told; more are only counted. */
const TOLD_MAX = 20;

/** What an attack has tried and seen. */
export class Findings {
  held = 0;
  broke = 0;
  /** Why it could not be tried on this machine, whole or in part. */
  readonly skipped: string[] = [];
  /** What the figures are made of, in a few words. */
  readonly notes: string[] = [];
  readonly #counts = new Map<string, number>();

  get tries(): number {
    return this.held + this.broke;
  }

  /** Each different break with how often it was seen. */
  get breaks(): readonly string[] {
    return [...this.#counts].map(([what, count]) =>
      count === 1 ? what : `${what} (${count} times)`,
    );
  }

  /** One try. `what` says what was wrong, without ids or numbers that differ from try to try. */
  demand(isHeld: boolean, what: string): void {
    if (isHeld) this.held += 1;
    else this.note(what);
  }

  /** As `demand`, of something that may also reject, which breaks it too. */
  async requireOf(claim: Promise<boolean>, what: string): Promise<void> {
    try {
      this.demand(await claim, what);
    } catch (error) {
      this.note(`${what}: ${error instanceof Error ? error.message : "rejected"}`);
    }
  }

  skip(why: string): void {
    this.skipped.push(why);
  }

  tell(note: string): void {
    this.notes.push(note);
  }

  private note(what: string): void {
    this.broke += 1;
    if (this.#counts.has(what) || this.#counts.size < TOLD_MAX) {
      this.#counts.set(what, (this.#counts.get(what) ?? 0) + 1);
    }
  }
}
