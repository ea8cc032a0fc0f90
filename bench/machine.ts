import { spawnSync } from "node:child_process";
import { cpus, totalmem } from "node:os";
import { describePinning } from "./stand/child-process.js";

export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGb: number;
  readonly platform: string;
  readonly node: string;
  readonly pinning: string;
  readonly commit: string;
}

/** What the numbers were measured on: nothing that names the machine or its place. */
export function thisMachine(): Machine {
  const [first] = cpus();
  return {
    cpu: first?.model.trim() ?? "unknown",
    cores: cpus().length,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    platform: `${process.platform} ${process.arch}`,
    node: process.version,
    pinning: describePinning(),
    commit: commit(),
  };
}

function commit(): string {
  const head = spawnSync("git", ["rev-parse", "--short", "HEAD"], { encoding: "utf8" });
  const changed = spawnSync("git", ["status", "--porcelain"], { encoding: "utf8" });
  if (head.status !== 0) return "unknown";
  return `${head.stdout.trim()}${changed.stdout.trim() === "" ? "" : " with changes"}`;
}
