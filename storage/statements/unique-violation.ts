import { ParleyError } from "../parley-error.js";
/** A row was refused because another one has the same values in these columns. */
export class UniqueViolationError extends ParleyError {
  override readonly name = "UniqueViolationError";
  readonly code = "unique_violation";
  readonly table: string;
  /** The columns of the unique rule, in its order, separated by commas: `orgId,category,providerKey,name`. */
  readonly columns: string;

  constructor(table: string, columns: string) {
    super(`${table} already has a row with the same ${columns}`);
    this.table = table;
    this.columns = columns;
  }
}
