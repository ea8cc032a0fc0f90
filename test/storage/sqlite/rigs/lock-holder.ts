import { spawn } from "node:child_process";
import { once } from "node:events";
import { saidBy } from "../other-process.js";

const SQLITE = import.meta.resolve("../../../../storage/sqlite/sqlite-library.js");

/** A test, or anything else that cleans up after itself. */
export interface Aftermath {
  after(cleanUp: () => unknown): void;
}

/** Another process begins to write to the database and does not finish. Returns a function that ends it. */
export async function holdLock(
  context: Aftermath,
  databasePath: string,
): Promise<() => Promise<void>> {
  const program = `import(${JSON.stringify(SQLITE)}).then(({ Sqlite }) => {
    globalThis.file = new Sqlite(${JSON.stringify(databasePath)}, { timeout: 5000 });
    file.exec("BEGIN IMMEDIATE");
    process.stdout.write("held\\n");
    process.stdin.resume();
  })`;
  const child = spawn(process.execPath, ["--eval", program], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  context.after(() => child.kill("SIGKILL"));
  await saidBy(child);
  return async () => {
    const exit = once(child, "exit");
    child.kill("SIGKILL");
    await exit;
  };
}
