/** Where something stands in a source, in UTF-16 units: from `start`, before `end`. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** One wrong change of a source. */
export interface Change extends Span {
  readonly replacement: string;
  /** Which kind of fault it stands for. */
  readonly operator: string;
  /**
   * Whoever executes this place notices the change, if anybody does: of an operator, its left side, since V8 counts `??`,
   * `||` and `&&` as a part of their right side, which may never be needed.
   */
  readonly executedAt: number;
}

/** Collects changes while a syntax tree is walked. */
export class SourceEdits {
  readonly changes: Change[] = [];
  readonly #source: string;

  constructor(source: string) {
    this.#source = source;
  }

  text({ start, end }: Span): string {
    return this.#source.slice(start, end);
  }

  replace(
    { start, end }: Span,
    replacement: string,
    operator: string,
    executedAt: number = start,
  ): void {
    this.changes.push({ start, end, replacement, operator, executedAt });
  }

  /** Replaces the sign between two operands. */
  replaceBetween(left: Span, right: Span, from: string, to: string, operator: string): void {
    const between = { start: left.end, end: right.start };
    const at = this.text(between).indexOf(from);
    if (at < 0) return;
    const start = between.start + at;
    this.replace({ start, end: start + from.length }, to, operator, left.start);
  }
}

export function applied(source: string, { start, end, replacement }: Change): string {
  return source.slice(0, start) + replacement + source.slice(end);
}
