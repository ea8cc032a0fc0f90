import { ParleyError } from "../../storage/parley-error.js";
/** A command cannot do what it was asked; the message tells a person why and what to do, in one line. */
export class CommandError extends ParleyError {
  override readonly name = "CommandError";
  readonly code = "command_failed";
}

/** The command line itself is wrong; told together with where to find help. */
export class UsageError extends ParleyError {
  override readonly name = "UsageError";
  readonly code = "usage_invalid";
}
