/** A command cannot do what it was asked; the message tells a person why and what to do, in one line. */
export class CommandError extends Error {
  override readonly name = "CommandError";
}

/** The command line itself is wrong; told together with where to find help. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}
