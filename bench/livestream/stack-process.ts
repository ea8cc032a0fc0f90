import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { freePorts } from "./free-ports.js";

const COMMAND = fileURLToPath(new URL("../../api/commands/livestream-local.js", import.meta.url));

/** The cheapest pictures, never too many of them: what is measured and tested, not what is nice. */
const QUICK = {
  PRESET: "ultrafast",
  AUDIO_RUNG: "0",
  ENCODE_MEGAPIXELS_MAX: "10000",
  SPEED_MIN_PERCENT: "0",
};

export type PartName = "state API" | "front proxy" | "transcoder" | "ingest";

/** `npm run livestream:local` on free ports of loopback. */
export class StackProcess {
  readonly frontUrl: string;
  readonly rtmpPort: number;
  readonly stateApiPort: number;
  /** All that was printed. */
  readonly lines: string[] = [];
  readonly #child: ChildProcess;
  readonly #awaited = new Set<() => void>();

  /** Resolves when it says that it is ready; `settings` are of its environment. */
  static async start(settings: Readonly<Record<string, string>> = {}): Promise<StackProcess> {
    const [front = 0, rtmp = 0, stateApi = 0, status = 0, transcoder = 0] = await freePorts(5);
    const child = spawn(process.execPath, ["--enable-source-maps", COMMAND], {
      env: {
        PATH: process.env["PATH"],
        HOST: "127.0.0.1",
        FRONT_PORT: String(front),
        RTMP_PORT: String(rtmp),
        LIVESTREAM_PORT: String(stateApi),
        INGEST_STATUS_PORT: String(status),
        TRANSCODER_PORT: String(transcoder),
        ...QUICK,
        ...settings,
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const stack = new StackProcess(child, front, rtmp, stateApi);
    await stack.line(/^Ready/);
    return stack;
  }

  private constructor(child: ChildProcess, front: number, rtmp: number, stateApi: number) {
    this.#child = child;
    this.frontUrl = `http://127.0.0.1:${front}`;
    this.rtmpPort = rtmp;
    this.stateApiPort = stateApi;
    for (const output of [child.stdout, child.stderr]) {
      if (output === null) continue;
      createInterface({ input: output }).on("line", (line) => {
        this.lines.push(line);
        this.#wakeAll();
      });
    }
    child.once("exit", () => this.#wakeAll());
  }

  /** The first printed line that matches, from the given one on; throws when it ends without one. */
  async line(pattern: RegExp, from = 0): Promise<RegExpExecArray> {
    for (;;) {
      for (const line of this.lines.slice(from)) {
        const found = pattern.exec(line);
        if (found !== null) return found;
      }
      if (this.#hasEnded()) throw new Error(`no line ${pattern} in:\n${this.lines.join("\n")}`);
      await new Promise<void>((resolve) => this.#awaited.add(resolve));
    }
  }

  /** The id of the process that started the parts. */
  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** The id of the process that runs as this part now. */
  pidOf(part: PartName): number {
    const started = `[${part}] started, process `;
    const line = this.lines.findLast((text) => text.startsWith(started));
    return Number(line?.slice(started.length));
  }

  /** Where playlists, logs and process ids are. */
  async folder(): Promise<string> {
    const [, path = ""] = await this.line(/^Files in\s+(\S+)/);
    return path;
  }

  rtmpUrl(key: string): string {
    return `rtmp://127.0.0.1:${this.rtmpPort}/live/${key}`;
  }

  /** Gives the exit status. */
  async stop(signal: "SIGTERM" | "SIGINT" | "SIGKILL" = "SIGTERM"): Promise<number | null> {
    if (!this.#hasEnded()) {
      const exited = once(this.#child, "exit");
      this.#child.kill(signal);
      await exited;
    }
    return this.#child.exitCode;
  }

  #hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  #wakeAll(): void {
    for (const wake of this.#awaited) wake();
    this.#awaited.clear();
  }
}
