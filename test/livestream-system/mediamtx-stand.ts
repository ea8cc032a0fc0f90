import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { createServer as createHttpServer, type Server as HttpServer } from "node:http";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { SMALL_PICTURE, sourceOf } from "./broadcaster.js";
import { whenFolderChanges } from "./folder-watch.js";
import { HlsFiles } from "./hls-files.js";
import { inTime } from "./in-time.js";
import { FAST_HOOK, HOOKS, type Settings } from "./ingest-stand.js";

export interface MediaMtxOptions {
  readonly hook?: Settings;
  /** The tracks that the control API tells. */
  readonly tracks?: readonly object[];
  readonly stateApiPort: number;
  /** The hook runs with busybox's shell, as in the container, instead of Debian's. */
  readonly isBusybox?: boolean;
  readonly sourceId?: string;
  /** The stand whose files this one shares, as hooks of one MediaMTX do. */
  readonly beside?: MediaMtxStand;
}

const H264 = {
  codec: "H264",
  codecProps: { width: 320, height: 240, profile: "Baseline", level: "1.3" },
};
const AAC = { codec: "MPEG-4 Audio", codecProps: { sampleRate: 48000, channelCount: 1 } };

/**
 * Does to the hook what MediaMTX does, as far as its source shows: an environment, a control API, a source to read, a
 * process group of its own, and SIGINT to that group. A test pattern takes the place of RTSP.
 */
export class MediaMtxStand {
  readonly folder: string;
  readonly files: HlsFiles;
  readonly asked: string[] = [];
  readonly #hook: ChildProcess;
  readonly #ended: Promise<unknown[]>;

  static async start(t: TestContext, options: MediaMtxOptions): Promise<MediaMtxStand> {
    const asked: string[] = [];
    const api = await listening(t, controlApi(options.tracks ?? [H264, AAC], asked));
    const source = await listening(t, testPattern());
    const stand = new MediaMtxStand(options, { api, source }, asked);
    t.after(() => stand.#remove());
    return stand;
  }

  private constructor(
    {
      hook,
      stateApiPort,
      isBusybox = false,
      beside,
      sourceId = "5d1f0f0e-7c3b-4b7e-9a51-1f1b2f0f6c11",
    }: MediaMtxOptions,
    ports: { readonly api: number; readonly source: number },
    asked: string[],
  ) {
    this.asked = asked;
    this.folder = beside?.folder ?? mkdtempSync(join(tmpdir(), "parley-mediamtx-test-"));
    for (const name of ["hls", "run", "bin"]) {
      mkdirSync(join(this.folder, name), { recursive: true });
    }
    this.files = new HlsFiles(join(this.folder, "hls"), "demo");
    const shell = isBusybox ? this.#busyboxShell() : "/bin/sh";
    this.#hook = spawn(shell, [join(HOOKS, "hls-ladder.sh"), "publish"], {
      detached: true,
      stdio: "ignore",
      env: {
        PATH: isBusybox ? join(this.folder, "bin") : process.env["PATH"],
        ...FAST_HOOK,
        STATE_API_URL: `http://127.0.0.1:${stateApiPort}`,
        HLS_ROOT: join(this.folder, "hls"),
        RUN_DIR: join(this.folder, "run"),
        LOG_FILE: join(this.folder, "hook.log"),
        SOURCE_URL: `tcp://127.0.0.1:${ports.source}?KEY`,
        MEDIAMTX_API_URL: `http://127.0.0.1:${ports.api}`,
        MTX_PATH: "live/demo",
        MTX_SOURCE_TYPE: "rtmpConn",
        MTX_SOURCE_ID: sourceId,
        ...hook,
      },
    });
    this.#ended = once(this.#hook, "exit");
  }

  get log(): string {
    return readFileSync(join(this.folder, "hook.log"), "utf8");
  }

  untilLogged(pattern: RegExp): Promise<true> {
    return whenFolderChanges(this.folder, `${pattern} in the hook's log`, () =>
      pattern.test(this.log) ? true : undefined,
    );
  }

  /** Signals the hook's process group, as MediaMTX does when the broadcaster goes. */
  signalGroup(signal: NodeJS.Signals): void {
    process.kill(-this.#pid, signal);
  }

  signalHook(signal: NodeJS.Signals): void {
    process.kill(this.#pid, signal);
  }

  /** Resolves with the hook's exit status. */
  async untilEnded(): Promise<unknown> {
    const [code] = await inTime(this.#ended, "the hook to end");
    return code;
  }

  get #pid(): number {
    if (this.#hook.pid === undefined) throw new Error("the hook has not started");
    return this.#hook.pid;
  }

  /** Everything that the hook may call is busybox's, but for what Debian builds it without, and ffmpeg. */
  #busyboxShell(): string {
    const bin = join(this.folder, "bin");
    const busybox = execFileSync("which", ["busybox"], { encoding: "utf8" }).trim();
    const applets = execFileSync(busybox, ["--list"], { encoding: "utf8" }).trim().split("\n");
    for (const applet of applets) symlinkSync(busybox, join(bin, applet));
    for (const name of ["ffmpeg", "ffprobe", "flock"]) {
      const path = execFileSync("which", [name], { encoding: "utf8" }).trim();
      symlinkSync(path, join(bin, name));
    }
    chmodSync(bin, 0o755);
    return join(bin, "sh");
  }

  #remove(): void {
    try {
      this.signalGroup("SIGKILL");
    } catch {
      // It has ended.
    }
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function listening(t: TestContext, server: Server | HttpServer): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port was given");
  return address.port;
}

function controlApi(tracks2: readonly object[], asked: string[]): HttpServer {
  return createHttpServer(({ url = "" }, response) => {
    asked.push(url);
    response.setHeader("content-type", "application/json; charset=utf-8");
    if (url.startsWith("/v3/rtmpconns/get/")) {
      response.end(
        JSON.stringify({ id: url.slice(18), remoteAddr: "[2001:db8::7]:50000", state: "publish" }),
      );
    } else if (url === "/v3/paths/get/live/demo") {
      response.end(
        JSON.stringify({ name: "live/demo", ready: true, tracks: [], tracks2, readers: [] }),
      );
    } else {
      response.statusCode = 404;
      response.end();
    }
  });
}

/**
 * Plays one pattern to everyone who connects, from its beginning and in real time. NUT names its tracks first, as RTSP
 * does; in an MPEG-TS ffmpeg would look for further ones until `-analyzeduration` is over.
 */
function testPattern(): Server {
  return createServer((socket) => {
    const child = spawn("ffmpeg", [...sourceOf(SMALL_PICTURE), "-f", "nut", "pipe:1"], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    child.stdout.pipe(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => child.kill("SIGKILL"));
  });
}
