/** Where something stands in a source, in UTF-16 units: from `start`, before `end`. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** What the place of a change is in the syntax; a key is that of a property, not computed. */
export type Form = "expression" | "statement" | "key";

/** One wrong change of a source. */
export interface Change extends Span {
  readonly replacement: string;
  /** Which kind of fault it stands for. */
  readonly operator: string;
  /** The whole expression, statement or key that is another one with the change. */
  readonly within: Span & { readonly form: Form };
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

  /** Replaces a whole expression, statement or key. */
  replace(
    { start, end }: Span,
    replacement: string,
    operator: string,
    form: Form = "expression",
  ): void {
    this.changes.push({ start, end, replacement, operator, within: { start, end, form } });
  }

  /** Replaces the sign between the two operands of an expression. */
  replaceBetween(
    { start, end }: Span,
    [left, right]: readonly [left: Span, right: Span],
    [from, to]: readonly [from: string, to: string],
    operator: string,
  ): void {
    const between = { start: left.end, end: right.start };
    const at = this.text(between).indexOf(from);
    if (at < 0) return;
    const sign = { start: between.start + at, end: between.start + at + from.length };
    const within = { start, end, form: "expression" } as const;
    this.changes.push({ ...sign, replacement: to, operator, within });
  }
}

/** What stands in a span, or in the whole source, once the change is made. */
export function applied(
  source: string,
  { start, end, replacement }: Change,
  within: Span = { start: 0, end: source.length },
): string {
  return source.slice(within.start, start) + replacement + source.slice(end, within.end);
}
