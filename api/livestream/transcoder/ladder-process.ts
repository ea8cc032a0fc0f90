import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import type { FolderOwner } from "./stream-folder.js";
import type { TrackKind } from "./track-flow.js";

export interface LadderProcessEvents {
  /** How much video it has produced, in milliseconds since it was started. */
  readonly onProgress: (madeMs: number) => void;
  /** A line of its standard error. */
  readonly onLine: (line: string) => void;
  /** The next part of a track's packet list. */
  readonly onPackets: (kind: TrackKind, chunk: string) => void;
  /** It has ended; `how` describes how. */
  readonly onEnded: (how: string) => void;
}

/** The file descriptors to which ffmpeg writes the packet list of each track. */
export const PACKET_LISTS = { video: 3, audio: 4 } as const;

const PROGRESS = /^out_time_us=(\d+)$/;

/** One ffmpeg. It dies with this process, however that ends. */
export class LadderProcess {
  readonly #child: ChildProcess;
  /** Resolves when it has ended. */
  readonly ended: Promise<void>;
  #hasEnded = false;

  constructor(
    args: readonly string[],
    owner: FolderOwner,
    path: string,
    events: LadderProcessEvents,
  ) {
    const { userId, groupId } = owner;
    this.#child = spawn("setpriv", ["--pdeathsig", "KILL", "ffmpeg", ...args], {
      stdio: ["ignore", "pipe", "pipe", "pipe", "pipe"],
      // Otherwise a signal to this process's group would be its first, and ours the second.
      detached: true,
      env: { PATH: path },
      ...(userId === undefined || groupId === undefined ? {} : { uid: userId, gid: groupId }),
    });
    this.ended = new Promise((resolve) => {
      const end = (how: string) => {
        if (this.#hasEnded) return;
        this.#hasEnded = true;
        resolve();
        events.onEnded(how);
      };
      this.#child.once("exit", (code, signal) =>
        end(signal === null ? `ended with status ${code}` : `was ended by ${signal}`),
      );
      this.#child.once("error", (error) => end(`cannot be started: ${error.message}`));
    });
    this.#readLines("stdout", (line) => {
      const [, madeUs] = PROGRESS.exec(line) ?? [];
      if (madeUs !== undefined) {
        events.onProgress(Number(madeUs) / 1_000);
      }
    });
    this.#readLines("stderr", events.onLine);
    for (const kind of ["video", "audio"] as const) {
      const list = this.#child.stdio[PACKET_LISTS[kind]];
      if (!(list instanceof Readable)) continue;
      list.setEncoding("utf8");
      list.on("data", (chunk: string) => events.onPackets(kind, chunk));
    }
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** SIGKILL leaves whole files; a second SIGINT would leave empty playlists, which are fatal to players. */
  signal(signal: "SIGINT" | "SIGKILL"): void {
    if (!this.#hasEnded) this.#child.kill(signal);
  }

  #readLines(output: "stdout" | "stderr", onLine: (line: string) => void): void {
    const stream = this.#child[output];
    if (stream !== null) createInterface({ input: stream }).on("line", onLine);
  }
}
