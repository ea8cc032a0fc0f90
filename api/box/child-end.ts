import type { ChildProcess } from "node:child_process";

/**
 * Resolves when the process has ended, or could not be started, and all that it has said was taken. What it could not be told,
 * since it is just ending, is no end: that comes after.
 */
export async function childEnd(child: ChildProcess): Promise<void> {
  await new Promise<void>((resolve) => {
    child.once("exit", () => resolve());
    child.on("error", () => {
      if (child.pid === undefined) resolve();
    });
  });
  if (!child.connected) return;
  await new Promise<void>((resolve) => {
    child.once("disconnect", () => resolve());
  });
}
