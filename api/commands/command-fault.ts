/** A command cannot do what it was asked; the message tells a person why and what to do, in one line. */
export class CommandFault extends Error {
  override readonly name = "CommandFault";
}

/** The command line itself is wrong; told together with where to find help. */
export class UsageFault extends Error {
  override readonly name = "UsageFault";
}
