/** A row was refused because it names one that does not exist, or removed although others still name it. */
export class ForeignKeyViolationError extends Error {
  override readonly name = "ForeignKeyViolationError";

  constructor() {
    super("a row names another that does not exist, or is still named by one");
  }
}
