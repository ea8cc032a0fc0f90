import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { findDebianParts } from "../../api/commands/livestream-local/debian-packages.js";
import {
  rtmpIngest,
  stateApi,
  transcoder,
} from "../../api/commands/livestream-local/local-command.js";
import { type PartCommand, RunningPart } from "../../api/commands/livestream-local/running-part.js";
import { SystemClock } from "../../engine/time/clock.js";
import { eventually } from "../system/eventually.js";
import { Broadcaster, type Picture } from "./broadcaster.js";
import { freePorts } from "./free-port.js";
import { HlsFiles } from "./hls-files.js";
import { inTime } from "./in-time.js";
import { ListingWatch } from "./listing-watch.js";
import { type RunningProcess, runningProcesses } from "./running-process.js";

export type Settings = Readonly<Record<string, string>>;

export interface StandOptions {
  readonly hook?: Settings | ((hlsRoot: string) => Settings);
  readonly stateApi?: Settings;
  readonly arePublishKeysChecked?: boolean;
  /** Creates files before the ingest starts. */
  readonly onFolders?: (hlsRoot: string) => void;
  /** Called before the ingest starts. */
  readonly onStateApi?: (url: string) => Promise<void>;
}

/** Small and fast settings: little CPU, and leases that tests can wait for. */
export const FAST_HOOK: Settings = {
  SEGMENT_SECONDS: "1",
  PRESET: "ultrafast",
  LADDER: "240:200:48 144:100:32",
  FPS_MAX: "15",
  HEARTBEAT_SECONDS: "1",
  LEASE_SECONDS: "4",
  STALL_SECONDS: "3",
  DEAD_SECONDS: "6",
  ENDED_KEEP_SECONDS: "3",
  DISK_FREE_MIN_KB: "1024",
  // A fixed value that is never exceeded, instead of a measurement.
  ENCODE_MEGAPIXELS_MAX: "10000",
  // Off, since the tests that run at the same time slow every ladder down.
  SPEED_MIN_PERCENT: "0",
};

/** State API, transcoder and nginx ingest as processes of their own, as in `npm run livestream:local`. */
export class IngestStand {
  readonly folder = mkdtempSync(join(tmpdir(), "parley-ingest-test-"));
  readonly hlsRoot = join(this.folder, "hls");
  readonly stateApi: RunningPart;
  readonly ingest: RunningPart;
  readonly transcoder: RunningPart;
  readonly stateApiPort: number;
  readonly rtmpPort: number;
  readonly statusPort: number;
  readonly transcoderPort: number;
  readonly lines: string[] = [];
  readonly #awaited = new Set<() => void>();
  readonly #processIds = new Map<string, number>();

  static async start(t: TestContext, options: StandOptions = {}): Promise<IngestStand> {
    const [stateApiPort = 0, rtmpPort = 0, statusPort = 0, transcoderPort = 0] = await freePorts(4);
    const stand = new IngestStand({ stateApiPort, rtmpPort, statusPort, transcoderPort }, options);
    t.after(() => stand.#remove());
    stand.stateApi.start();
    await stand.untilStateApi();
    stand.stateApi.keep();
    await options.onStateApi?.(`http://127.0.0.1:${stateApiPort}`);
    stand.ingest.start();
    // The ingest is not restarted automatically: the next one would unlist streams at once, and the tests check the end
    // of a lease.
    await stand.#untilAnswers(`http://127.0.0.1:${statusPort}/stat`);
    stand.transcoder.start();
    await stand.untilTranscoder();
    stand.transcoder.keep();
    return stand;
  }

  private constructor(
    ports: Pick<IngestStand, "stateApiPort" | "rtmpPort" | "statusPort" | "transcoderPort">,
    options: StandOptions,
  ) {
    ({
      stateApiPort: this.stateApiPort,
      rtmpPort: this.rtmpPort,
      statusPort: this.statusPort,
      transcoderPort: this.transcoderPort,
    } = ports);
    chmodSync(this.folder, 0o755);
    for (const name of ["hls", "run", "nginx"]) mkdirSync(join(this.folder, name));
    options.onFolders?.(this.hlsRoot);
    const { hook } = options;
    const hookSettings = typeof hook === "function" ? hook(this.hlsRoot) : hook;
    const debian = findDebianParts(process.env["PATH"] ?? "");
    if ("missing" in debian) throw new Error(`missing: ${debian.missing.join(" ")}`);
    this.stateApi = this.#part(
      stateApi({
        port: ports.stateApiPort,
        hlsRoot: this.hlsRoot,
        environment: options.stateApi ?? {},
      }),
    );
    this.ingest = this.#part(
      rtmpIngest(debian, {
        user: "root",
        rtmpListen: `127.0.0.1:${ports.rtmpPort}`,
        statusPort: ports.statusPort,
        stateApiPort: ports.stateApiPort,
        transcoderPort: ports.transcoderPort,
        arePublishKeysChecked: options.arePublishKeysChecked ?? false,
        tempFolder: join(this.folder, "nginx"),
      }),
    );
    this.transcoder = this.#part(
      transcoder({
        ...ports,
        port: ports.transcoderPort,
        hlsRoot: this.hlsRoot,
        runFolder: join(this.folder, "run"),
        ids: undefined,
        environment: { ...FAST_HOOK, ...hookSettings },
      }),
    );
  }

  /** The transcoder's log. */
  get log(): string {
    return this.lines.filter((line) => line.startsWith("transcoder: ")).join("\n");
  }

  broadcast(t: TestContext, streamKey: string, picture: Partial<Picture> = {}): Broadcaster {
    const broadcaster = new Broadcaster(
      `rtmp://127.0.0.1:${this.rtmpPort}/live/${streamKey}`,
      picture,
    );
    t.after(() => broadcaster.leave());
    return broadcaster;
  }

  watchListing(t: TestContext): Promise<ListingWatch> {
    return ListingWatch.open(t, this.stateApiPort);
  }

  untilStateApi(): Promise<true> {
    return this.#untilAnswers(`http://127.0.0.1:${this.stateApiPort}/health`);
  }

  untilTranscoder(): Promise<true> {
    return this.#untilAnswers(`http://127.0.0.1:${this.transcoderPort}/`);
  }

  /** Resolves when the transcoder has logged a matching line. */
  async untilLogged(pattern: RegExp): Promise<void> {
    while (!pattern.test(this.log)) {
      const line = new Promise<void>((resolve) => this.#awaited.add(resolve));
      await inTime(line, `${pattern} in the transcoder's log:\n${this.log}`);
    }
  }

  files(streamKey: string): HlsFiles {
    return new HlsFiles(this.hlsRoot, streamKey);
  }

  /** Returns the process that was started last as this part; throws if there was none. */
  processIdOf(part: "state API" | "ingest" | "transcoder"): number {
    const id = this.#processIds.get(part);
    if (id === undefined) throw new Error(`the ${part} was never started`);
    return id;
  }

  /** Lists every running process of the ingest, found by the stand's folder in its command line. */
  processes(): readonly RunningProcess[] {
    return runningProcesses().filter(({ commandLine }) => commandLine.includes(this.folder));
  }

  childrenOf(id: number): readonly RunningProcess[] {
    return runningProcesses().filter(({ parentId }) => parentId === id);
  }

  ladders(streamKey: string): readonly RunningProcess[] {
    const output = join(this.hlsRoot, streamKey, "%v", "index.m3u8");
    return this.processes().filter(
      ({ commandLine }) => commandLine.startsWith("ffmpeg") && commandLine.endsWith(output),
    );
  }

  async #remove(): Promise<void> {
    await this.ingest.stop();
    await this.transcoder.stop();
    await this.stateApi.stop();
    for (const { id } of this.processes()) process.kill(id, "SIGKILL");
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }

  #part(command: PartCommand): RunningPart {
    const note = (line: string) => {
      this.lines.push(`${command.name}: ${line}`);
      for (const wake of this.#awaited) wake();
      this.#awaited.clear();
    };
    return new RunningPart(
      command,
      {
        onLine: note,
        onStarted: (id) => void this.#processIds.set(command.name, id),
        onEnded: note,
        onGivenUp: () => note("given up"),
      },
      new SystemClock(),
    );
  }

  #untilAnswers(url: string): Promise<true> {
    return eventually(`${url}; ${this.lines.join("; ")}`, () =>
      fetch(url).then(
        async (answer) => {
          await answer.body?.cancel();
          return answer.ok || undefined;
        },
        () => undefined,
      ),
    );
  }
}
