interface QueryResult {
  readonly data: unknown;
  /** How often it was given up. */
  readonly errorUpdateCount: number;
}

/** Whether it is known what came of a question, be it a fault: it stays known while it is asked again. */
export function isKnown({ data, errorUpdateCount }: QueryResult): boolean {
  return data !== undefined || errorUpdateCount > 0;
}
