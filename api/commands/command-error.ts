import { ParleyError } from "../../storage/parley-error.js";
/** A command failed; the one-line message tells a person why and what to do about it. */
export class CommandError extends ParleyError {
  override readonly name = "CommandError";
  readonly code = "command_failed";
}

/** The command line itself is wrong. The message is printed with a pointer to the help. */
export class UsageError extends ParleyError {
  override readonly name = "UsageError";
  readonly code = "usage_invalid";
}
