import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { createServer as createHttpServer, type Server as HttpServer } from "node:http";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { transcoder } from "../../api/commands/livestream-local/local-command.js";
import { RunningPart } from "../../api/commands/livestream-local/running-part.js";
import { SystemClock } from "../../engine/time/clock.js";
import { eventually } from "../system/eventually.js";
import { SMALL_PICTURE, sourceOf } from "./broadcaster.js";
import { freePorts } from "./free-port.js";
import { HlsFiles } from "./hls-files.js";
import { FAST_HOOK, type Settings } from "./ingest-stand.js";
import { runningProcesses } from "./running-process.js";

export interface MediaMtxOptions {
  readonly stateApiPort: number;
  readonly settings?: Settings;
}

const H264 = { codec: "H264", codecProps: { width: 320, height: 240, profile: "Baseline" } };
const AAC = { codec: "MPEG-4 Audio", codecProps: { sampleRate: 48_000, channelCount: 1 } };

/**
 * Behaves towards the transcoder as MediaMTX does, according to its source: a control API, a source to read, and a
 * notification after each change. A test pattern takes the place of RTSP.
 */
export class MediaMtxStand {
  readonly folder = mkdtempSync(join(tmpdir(), "parley-mediamtx-test-"));
  readonly files = new HlsFiles(join(this.folder, "hls"), "demo");
  /** The requested paths of the control API. */
  readonly asked: string[] = [];
  readonly lines: string[] = [];
  readonly #port: number;
  readonly #transcoder: RunningPart;
  #control: HttpServer | undefined;
  #publishers = new Map<string, readonly object[]>();

  static async start(t: TestContext, options: MediaMtxOptions): Promise<MediaMtxStand> {
    const [port = 0] = await freePorts(1);
    const control = createHttpServer();
    const [api, source] = [await listening(t, control), await listening(t, testPattern())];
    const stand = new MediaMtxStand(options, { api, source, port });
    stand.#answer(control);
    t.after(() => stand.#remove());
    stand.#transcoder.start();
    await eventually("the transcoder", () => stand.ring().catch(() => undefined));
    return stand;
  }

  private constructor(
    { stateApiPort, settings }: MediaMtxOptions,
    ports: { readonly api: number; readonly source: number; readonly port: number },
  ) {
    for (const name of ["hls", "run"]) mkdirSync(join(this.folder, name));
    this.#port = ports.port;
    const { env, ...command } = transcoder({
      stateApiPort,
      rtmpPort: 9,
      statusPort: 9,
      port: ports.port,
      hlsRoot: join(this.folder, "hls"),
      runFolder: join(this.folder, "run"),
      ids: undefined,
      environment: { ...FAST_HOOK, ...settings },
    });
    const own = {
      NGINX_STAT_URL: "",
      MEDIAMTX_API_URL: `http://127.0.0.1:${ports.api}`,
      SOURCE_URL: `tcp://127.0.0.1:${ports.source}?KEY`,
    };
    const note = (line: string) => void this.lines.push(line);
    this.#transcoder = new RunningPart(
      { ...command, env: { ...env, ...own } },
      {
        onLine: note,
        onStarted: () => undefined,
        onEnded: note,
        onGivenUp: () => note("given up"),
      },
      new SystemClock(),
    );
  }

  /** Sets the publisher under the key `demo`, or none without an id. Resolves when the transcoder has been notified. */
  async publish(
    sourceId: string | undefined,
    tracks: readonly object[] = [H264, AAC],
  ): Promise<void> {
    this.#publishers = new Map(sourceId === undefined ? [] : [[sourceId, tracks]]);
    await this.ring();
  }

  async ring(): Promise<true> {
    const answer = await fetch(`http://127.0.0.1:${this.#port}/came`);
    await answer.body?.cancel();
    return true;
  }

  /** The arguments with which each ffmpeg was started. */
  ladders(): readonly string[] {
    return runningProcesses()
      .map(({ commandLine }) => commandLine)
      .filter((words) => words.startsWith("ffmpeg") && words.includes(this.folder));
  }

  closeControlApi(): void {
    this.#control?.close();
    this.#control?.closeAllConnections();
  }

  stop(): Promise<void> {
    return this.#transcoder.stop();
  }

  #answer(control: HttpServer): void {
    this.#control = control;
    control.on("request", ({ url = "" }, response) => {
      this.asked.push(url);
      response.setHeader("content-type", "application/json; charset=utf-8");
      if (url.startsWith("/v3/rtmpconns/get/")) {
        response.end(JSON.stringify({ remoteAddr: "[2001:db8::7]:50000", state: "publish" }));
      } else if (url.startsWith("/v3/paths/list?")) {
        const paths = Array.from(this.#publishers, ([id, tracks2]) => ({
          name: "live/demo",
          ready: true,
          source: { type: "rtmpConn", id },
          tracks: [],
          tracks2,
          readers: [],
        }));
        const janitor = { name: "_transcoder", ready: false, source: null, tracks2: [] };
        response.end(JSON.stringify({ itemCount: 1, pageCount: 1, items: [janitor, ...paths] }));
      } else {
        response.statusCode = 404;
        response.end();
      }
    });
  }

  async #remove(): Promise<void> {
    await this.stop();
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

/**
 * Sends one pattern to every client, from its beginning and in real time. NUT declares its tracks first, as RTSP does;
 * in an MPEG-TS, ffmpeg would look for further ones until `-analyzeduration` is over.
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
