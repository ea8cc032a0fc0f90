import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";

const DATABASE_MODULE = new URL("../../../storage/database.js", import.meta.url).href;

/**
 * Runs the lines in another process, in which `database` is open on the file and `say(line)` sends a line to this one.
 */
export function otherProcess(filePath: string, lines: string): ChildProcess {
  // Not as a module: a thread would inherit --input-type, and not start with it.
  const program = `(async () => {
    const { openDatabase } = await import(${JSON.stringify(DATABASE_MODULE)});
    const database = await openDatabase({ filePath: ${JSON.stringify(filePath)} });
    const say = (line) => process.stdout.write(line + "\\n");
    ${lines}
  })()`;
  return spawn(process.execPath, ["--eval", program], {
    stdio: ["ignore", "pipe", "inherit"],
  });
}

/** Resolves with the next line of the process, without its line ending. */
export async function saidBy(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error("the process was started without a pipe");
  const [chunk] = await once(child.stdout, "data");
  return String(chunk).trim();
}
