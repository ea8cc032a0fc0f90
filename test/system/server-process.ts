import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const MAIN = fileURLToPath(new URL("../../main.js", import.meta.url));

/** The server as an operator starts it: a process of its own, controlled by signals. */
export class ServerProcess {
  readonly url: string;
  readonly #child: ChildProcess;

  /** Resolves when the server reports its address. */
  static async start(environment: Readonly<Record<string, string>>): Promise<ServerProcess> {
    const child = spawn(process.execPath, [MAIN], {
      env: { PATH: process.env["PATH"], ...environment },
      stdio: ["ignore", "pipe", "inherit"],
    });
    let last = "no output";
    for await (const line of createInterface({ input: child.stdout })) {
      const url = /Parley listens on (\S+)/.exec(line)?.[1];
      if (url !== undefined) return new ServerProcess(child, url);
      last = line;
    }
    throw new Error(`the server ended before it listened: ${last}`);
  }

  private constructor(child: ChildProcess, url: string) {
    this.#child = child;
    this.url = url;
  }

  signal(name: "SIGTERM" | "SIGKILL" | "SIGSTOP" | "SIGCONT"): void {
    this.#child.kill(name);
  }

  /** Resolves with its exit code; null if it was killed. */
  async exited(): Promise<number | null> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      await once(this.#child, "exit");
    }
    return this.#child.exitCode;
  }
}
