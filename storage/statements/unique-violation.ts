/** A row was refused because another one has the same values in these columns. */
export class UniqueViolationError extends Error {
  override readonly name = "UniqueViolationError";
  readonly table: string;
  /** The columns of the unique rule, in its order, with commas between: `orgId,category,providerKey,name`. */
  readonly columns: string;

  constructor(table: string, columns: string) {
    super(`${table} already has a row with the same ${columns}`);
    this.table = table;
    this.columns = columns;
  }
}
