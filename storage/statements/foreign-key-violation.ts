import { ParleyError } from "../parley-error.js";
/** A row was refused because it names one that does not exist, or removed although others still name it. */
export class ForeignKeyViolationError extends ParleyError {
  override readonly name = "ForeignKeyViolationError";
  readonly code = "foreign_key_violation";

  constructor() {
    super("a row references one that does not exist, or is still referenced");
  }
}
