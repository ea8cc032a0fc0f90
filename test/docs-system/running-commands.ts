/** A command that a page lets run in a terminal of its own. */
export interface RunningCommand {
  /** Matches the whole block that holds the command. */
  readonly command: RegExp;
  /** What the command prints when it listens, with the port. */
  readonly listening: RegExp;
  /** As it stands on the page; wherever it stands there, the real one takes its place. */
  readonly documentedPort: string;
}

export const RUNNING_COMMANDS: readonly RunningCommand[] = [
  {
    command: /^(?:[A-Z_]+=\S+\s+(?:\\\n\s+)?)*npm start$/,
    listening: /Parley listens on http:\/\/127\.0\.0\.1:(\d+)/,
    documentedPort: "8080",
  },
  {
    command: /^SANDBOX_LIFELIKE=1 npm run sandbox -- \d+$/,
    listening: /"port":(\d+)/,
    documentedPort: "9100",
  },
  {
    command: /^npm run livestream$/,
    listening: /Live streams are listed on http:\/\/127\.0\.0\.1:(\d+)/,
    documentedPort: "4000",
  },
  {
    command: /^(?:[A-Z_]+=\S+ )?node \S+\.mjs$/,
    listening: /port: (\d+)/,
    documentedPort: "3000",
  },
];
