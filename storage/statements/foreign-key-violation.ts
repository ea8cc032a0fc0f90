import { ParleyError } from "../parley-error.js";
/** A row was refused because it refers to a missing one, or deleted although others still refer to it. */
export class ForeignKeyViolationError extends ParleyError {
  override readonly name = "ForeignKeyViolationError";
  readonly code = "foreign_key_violation";

  constructor() {
    super("a row references one that does not exist, or is still referenced");
  }
}
