import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as v from "valibot";
import { CommandFault } from "../command-fault.js";
import { FOLDER_PREFIX } from "./local-folders.js";

const RunningCopy = v.object({
  pid: v.number(),
  ports: v.array(v.number()),
  watchUrl: v.string(),
});
/** One `npm run livestream:local`, as its folder tells of it. */
export type RunningCopy = v.InferOutput<typeof RunningCopy>;

const NOTE = "running.json";

/** So that a second start can say what it meets. */
export function noteRunning(root: string, copy: RunningCopy): void {
  writeFileSync(join(root, NOTE), JSON.stringify(copy));
}

/** Throws a CommandFault when a copy that runs has one of the ports; removes what a killed one left behind. */
export function demandNoOther(ports: readonly number[]): void {
  for (const name of readdirSync(tmpdir())) {
    if (!name.startsWith(FOLDER_PREFIX)) continue;
    const root = join(tmpdir(), name);
    const copy = readCopy(root);
    if (copy === undefined) continue;
    if (!isRunning(copy.pid)) rmSync(root, { recursive: true, force: true });
    else if (copy.ports.some((port) => ports.includes(port))) {
      throw new CommandFault(
        `it runs already, as process ${copy.pid}: watch at ${copy.watchUrl}, stop it with: kill ${copy.pid}`,
      );
    }
  }
}

/** Undefined for a folder of somebody else, or of a start that has not come so far. */
function readCopy(root: string): RunningCopy | undefined {
  try {
    return v.parse(RunningCopy, JSON.parse(readFileSync(join(root, NOTE), "utf8")));
  } catch {
    return undefined;
  }
}

/** A number is given to another process after a while: its command line tells. */
function isRunning(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("livestream-local");
  } catch {
    return false;
  }
}
