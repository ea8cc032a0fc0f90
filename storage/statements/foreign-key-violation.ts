/** A row was refused because it names one that does not exist, or removed although others still name it. */
export class ForeignKeyViolation extends Error {
  override readonly name = "ForeignKeyViolation";

  constructor() {
    super("a row names another that does not exist, or is still named by one");
  }
}
