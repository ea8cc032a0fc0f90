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
  {
    sourcePath: "engine/calls/recording/audio-track.ts",
    code: "if (pcm.length > 0)",
    original: ">",
    replacement: ">=",
    reason: "a piece without sound is never heard, and is let go with the block that it stands in",
  },
  {
    sourcePath: "engine/calls/recording/audio-track.ts",
    code: "return length > 0 ? [{ at, pcm: pcm.subarray(0, length) }] : [];",
    original: ">",
    replacement: ">=",
    reason: "a piece without sound is never heard, and is let go with the block that it stands in",
  },
  {
    sourcePath: "engine/calls/recording/recording-file.ts",
    code: "const RECORDING_BYTES_MAX = 2 ** 31 - 1;",
    original: "1",
    replacement: "2",
    reason:
      "header and samples are a multiple of four bytes, so that the longest file is four bytes shorter either way",
  },
  {
    sourcePath: "engine/calls/recording/recording-file.ts",
    code: "await this.#handle.appendFile(wavHeader(this.#rateHz, 0));",
    original: "0",
    replacement: "1",
    reason:
      "the sizes are those of nothing until the file is put right by its length, and until then nobody reads them",
  },
  {
    sourcePath: "engine/calls/recording/recording-file.ts",
    code: 'if (error instanceof Error && "code" in error && error.code === "ENOENT")',
    original: "&&",
    replacement: "||",
    reason:
      "it is for the type alone: what the file system rejects with is an Error that has a code",
  },
  {
    sourcePath: "engine/calls/recording/recording-uploads.ts",
    code: 'if (error instanceof Error && "code" in error && error.code === "ENOENT")',
    original: "&&",
    replacement: "||",
    reason:
      "it is for the type alone: what the file system rejects with is an Error that has a code",
  },
  {
    sourcePath: "engine/calls/recording/audio-track.ts",
    code: "if (pcm.length > 0)",
    original: "pcm.length > 0",
    replacement: "true",
    reason: "a piece without sound is never heard, and is let go with the block that it stands in",
  },
  {
    sourcePath: "engine/calls/recording/recording-uploads.ts",
    code: "const body = handle.createReadStream({ highWaterMark: PIECE_BYTES, autoClose: false });",
    original: "false",
    replacement: "true",
    reason: "the file is closed behind the upload in any case, and closing it twice does nothing",
  },
  {
    sourcePath: "engine/tools/tool-request.ts",
    code: "#isText = true;",
    original: "true",
    replacement: "false",
    reason: "every answer begins with its headers, which say of what kind it is",
  },
  {
    sourcePath: "engine/tools/tool-request.ts",
    code: "#status = 0;",
    original: "0",
    replacement: "1",
    reason: "every answer begins with its status",
  },
  {
    sourcePath: "engine/tools/http-tool.ts",
    code: "return parsed.success ? parsed.output : body;",
    original: "parsed.success",
    replacement: "true",
    reason: "what is no JSON comes out of the reader as it went in",
  },
];
