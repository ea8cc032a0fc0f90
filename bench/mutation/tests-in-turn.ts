import { writeSync } from "node:fs";
import * as v from "valibot";
import { runFiles } from "../../test/shared-process.js";

/** A process of its own: runs the test files of its argument, and writes a line to this descriptor when each begins and when all are over. */
const TOLD_FD = 3;
/** Whoever started this process ends it long before. */
const FILE_TIMEOUT_MS = 600_000;
const testFiles = v.pipe(
  v.string(),
  v.parseJson(),
  v.array(v.object({ name: v.string(), url: v.string() })),
);

const tell = () => void writeSync(TOLD_FD, "\n");
const files = v.parse(testFiles, process.argv[2]);
await runFiles(files, FILE_TIMEOUT_MS, { begins: tell, isLoaded: () => {}, ends: () => {} });
tell();
