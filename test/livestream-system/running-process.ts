import { readdirSync, readFileSync } from "node:fs";

export interface RunningProcess {
  readonly id: number;
  readonly parentId: number;
  /** The arguments, separated by one space. */
  readonly commandLine: string;
}

/** Lists every process of this machine that has a command line, so no zombies. */
export function runningProcesses(): readonly RunningProcess[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const commandLine = readFileSync(`/proc/${name}/cmdline`, "utf8")
          .replace(/\0$/, "")
          .replaceAll("\0", " ");
        const status = readFileSync(`/proc/${name}/stat`, "latin1");
        // The name in brackets may contain any character; state and parent follow it.
        const parentId = Number(status.slice(status.lastIndexOf(")") + 2).split(" ")[1]);
        return commandLine === "" ? [] : [{ id: Number(name), parentId, commandLine }];
      } catch {
        // The process ended in between.
        return [];
      }
    });
}
