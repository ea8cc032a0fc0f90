import type { EquivalentMutant } from "./equivalent-mutant.js";

export const IN_CALLS: readonly EquivalentMutant[] = [
  {
    sourcePath: "engine/calls/opening/call-entry.ts",
    code: "#longestWaitMs = 0;",
    original: "0",
    replacement: "1",
    reason: "it is told from five seconds on, and before them nobody sees it",
  },
  {
    sourcePath: "engine/calls/opening/call-entry.ts",
    code: "this.#longestWaitMs = Math.max(this.#longestWaitMs, save.report?.totalMs ?? 0);",
    original: "0",
    replacement: "1",
    reason: "it is told from five seconds on, and before them nobody sees it",
  },
  {
    sourcePath: "engine/bucket/bucket.ts",
    code: "if (!(part instanceof Uint8Array))",
    original: "!(part instanceof Uint8Array)",
    replacement: "false",
    reason: "it is for the type alone: a body that nobody set an encoding for is read in bytes",
  },
  {
    sourcePath: "engine/bucket/bucket.ts",
    code: "if (!(piece instanceof Uint8Array))",
    original: "!(piece instanceof Uint8Array)",
    replacement: "false",
    reason: "it is for the type alone: a body that nobody set an encoding for is read in bytes",
  },
  {
    sourcePath: "engine/bucket/bucket.ts",
    code: "body: body === undefined ? null : Readable.from(body, { objectMode: false }),",
    original: "false",
    replacement: "true",
    reason: "the pieces are bytes either way, and nobody sees how many of them wait to be sent",
  },
  {
    sourcePath: "engine/bucket/object-reader.ts",
    code: "#pieceFrom = 0;",
    original: "0",
    replacement: "1",
    reason: "there is no byte of an empty piece, wherever it stands",
  },
  {
    sourcePath: "engine/metrics/process-metrics.ts",
    code: "const MONITOR_PERIOD_MS = 3_600_000;",
    original: "3_600_000",
    replacement: "7200000",
    reason: "nobody sees whether a monitor that nobody asks wakes every hour or every other",
  },
];
