import { once } from "node:events";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import * as v from "valibot";
import {
  type Defaults,
  defaultsOf,
  type Environment,
  parseSettings,
  wholeNumber,
} from "../../../engine/settings.js";
import { type Clock, SystemClock } from "../../../engine/time/clock.js";
import { transcoderDefaults } from "../../livestream/transcoder/transcoder-config.js";
import type { Command } from "../command.js";
import { CommandError, UsageError } from "../command-error.js";
import { printable, type Terminal } from "../terminal.js";
import { type DebianParts, findDebianParts } from "./debian-packages.js";
import { filledTemplate } from "./filled-template.js";
import {
  FOLDER_PREFIX,
  type LocalFolders,
  makeLocalFolders,
  removeLocalFolders,
} from "./local-folders.js";
import { mediaMtxIngest, requireMediaMtx } from "./mediamtx-ingest.js";
import { packageRoot } from "./package-root.js";
import { type PartCommand, RunningPart } from "./running-part.js";

/** The operator's settings of the component on one machine. Settings of its parts are passed on to them. */
export interface LocalSettings {
  /** The address for broadcasters and viewers. The state API always listens on loopback. */
  readonly host: string;
  readonly frontPort: number;
  readonly rtmpPort: number;
  readonly stateApiPort: number;
  /** Statistics and publisher authorization, on loopback. */
  readonly ingestStatusPort: number;
  /** The port at which the ingest notifies the transcoder, on loopback. */
  readonly transcoderPort: number;
  readonly arePublishKeysChecked: boolean;
  readonly areViewersChecked: boolean;
  /** The path of an installed MediaMTX, which replaces Debian's nginx as ingest. */
  readonly mediaMtx: string | undefined;
  readonly rtspPort: number;
  readonly webrtcPort: number;
  readonly webrtcUdpPort: number;
  readonly publicHost: string | undefined;
}

const port = (fallback: number) => wholeNumber(fallback, 1, 65_535);

const Settings = v.object({
  HOST: v.optional(v.pipe(v.string(), v.ip("expected an IPv4 or IPv6 address")), "0.0.0.0"),
  FRONT_PORT: port(8_080),
  RTMP_PORT: port(1_935),
  LIVESTREAM_PORT: port(4_000),
  INGEST_STATUS_PORT: port(8_936),
  TRANSCODER_PORT: port(8_937),
  PUBLISH_KEYS: v.optional(v.string()),
  PUBLISH_KEYS_FILE: v.optional(v.string()),
  PRIVATE_STREAMS: v.optional(v.string()),
  MEDIAMTX: v.optional(v.string()),
  RTSP_PORT: port(8_554),
  WEBRTC_PORT: port(8_889),
  WEBRTC_UDP_PORT: port(8_189),
  PUBLIC_HOST: v.optional(v.string()),
});

export function localDefaults(): Defaults {
  return defaultsOf(Settings.entries);
}

/** Throws a ConfigError that lists every wrong setting. */
export function parseLocalSettings(environment: Environment): LocalSettings {
  const env = parseSettings(Settings, environment);
  return {
    host: env.HOST,
    frontPort: env.FRONT_PORT,
    rtmpPort: env.RTMP_PORT,
    stateApiPort: env.LIVESTREAM_PORT,
    ingestStatusPort: env.INGEST_STATUS_PORT,
    transcoderPort: env.TRANSCODER_PORT,
    arePublishKeysChecked: env.PUBLISH_KEYS !== undefined || env.PUBLISH_KEYS_FILE !== undefined,
    areViewersChecked: env.PRIVATE_STREAMS !== undefined,
    mediaMtx: env.MEDIAMTX,
    rtspPort: env.RTSP_PORT,
    webrtcPort: env.WEBRTC_PORT,
    webrtcUdpPort: env.WEBRTC_UDP_PORT,
    publicHost: env.PUBLIC_HOST,
  };
}

/** The argument of nginx's `listen`. With `::` nginx accepts IPv4 as well. */
export function listenAddress(host: string, port: number): string {
  if (host === "::") return `[::]:${port} ipv6only=off`;
  return `${bracketed(host)}:${port}`;
}

/** The address at which this machine connects to a server that listens on `host`. */
export function ownAddress(host: string): string {
  return host === "0.0.0.0" || host === "::" ? "127.0.0.1" : bracketed(host);
}

function bracketed(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}

const READY_TIMEOUT_MS = 20_000;
const ASK_PERIOD_MS = 100;
const ANSWER_TIMEOUT_MS = 2_000;

/**
 * Resolves when the URL responds with success. Throws a CommandError if it does not in time, or when the signal aborts.
 */
export async function untilReady(
  name: string,
  url: string,
  clock: Clock,
  signal: AbortSignal,
): Promise<void> {
  const beganMs = clock.monotonicMs();
  while (!signal.aborted) {
    if (await answers(url)) return;
    if (clock.monotonicMs() - beganMs > READY_TIMEOUT_MS) {
      throw new CommandError(`the ${name} does not answer at ${url}`);
    }
    await new Promise<void>((resolve) => clock.after(ASK_PERIOD_MS, resolve));
  }
}

async function answers(url: string): Promise<boolean> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS) });
    await answer.body?.cancel();
    return answer.ok;
  } catch {
    return false;
  }
}

/** Throws a CommandError that names the setting, since nginx would only retry endlessly. */
export async function requireFreePort(setting: string, host: string, port: number): Promise<void> {
  const server = createServer();
  try {
    server.listen({ host, port });
    await once(server, "listening");
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CommandError(`${setting}: expected a free port: ${reason}`);
  }
  server.close();
  await once(server, "close");
}

const RunningCopy = v.object({
  pid: v.number(),
  ports: v.array(v.number()),
  watchUrl: v.string(),
});
/** One running `npm run livestream:local`, as described by the note in its folder. */
export type RunningCopy = v.InferOutput<typeof RunningCopy>;

const NOTE = "running.json";

/** Written so that a second start can report this one. */
export function noteRunning(root: string, copy: RunningCopy): void {
  writeFileSync(join(root, NOTE), JSON.stringify(copy));
}

/** Throws a CommandError if a running copy uses one of the ports. Removes the folders of killed copies. */
export function requireNoOther(ports: readonly number[]): void {
  for (const name of readdirSync(tmpdir())) {
    if (!name.startsWith(FOLDER_PREFIX)) continue;
    const root = join(tmpdir(), name);
    const copy = readCopy(root);
    if (copy === undefined) continue;
    if (!isRunning(copy.pid)) rmSync(root, { recursive: true, force: true });
    else if (copy.ports.some((port) => ports.includes(port))) {
      throw new CommandError(
        `it is already running as process ${copy.pid}: watch at ${copy.watchUrl}, stop it with: kill ${copy.pid}`,
      );
    }
  }
}

/** Returns undefined if the folder belongs to another program, or its copy has not written the note yet. */
function readCopy(root: string): RunningCopy | undefined {
  try {
    return v.parse(RunningCopy, JSON.parse(readFileSync(join(root, NOTE), "utf8")));
  } catch {
    return undefined;
  }
}

/** Process ids are reused, so the command line decides. */
function isRunning(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("livestream-local");
  } catch {
    return false;
  }
}

export interface FrontProxyOptions {
  /** What nginx listens on: a port, or address:port. */
  readonly listen: string;
  /** host:port */
  readonly stateApi: string;
  /** host:port of the ingest's WebRTC side; may be a port that nothing listens on. */
  readonly webrtc: string;
  /** Read by nginx's workers, which may run as another user. */
  readonly hlsRoot: string;
  readonly siteRoot: string;
  /** The folder of nginx's configuration and buffers; nginx writes to it. */
  readonly tempFolder: string;
  /** Whether nginx asks the state API to authorize each viewer. */
  readonly areViewersChecked?: boolean;
  /** The value of nginx's `access_log`; by default there is no log. */
  readonly accessLog?: string;
}

const TEMPLATE = "deploy/livestream/front/nginx.conf.template";

/** Writes the configuration that the container also uses, and returns the command that starts nginx with it. */
export function frontProxy(nginx: string, options: FrontProxyOptions): PartCommand {
  const path = join(options.tempFolder, "front.conf");
  const template = readFileSync(join(packageRoot(), TEMPLATE), "utf8");
  writeFileSync(
    path,
    filledTemplate(template, {
      FRONT_LISTEN: options.listen,
      FRONT_STATE_API: options.stateApi,
      FRONT_WEBRTC: options.webrtc,
      // Never used: both upstreams are addresses, not names.
      FRONT_RESOLVER: "127.0.0.1",
      FRONT_HLS_ROOT: options.hlsRoot,
      FRONT_SITE_ROOT: options.siteRoot,
      FRONT_TEMP: options.tempFolder,
      FRONT_VIEW_AUTH: options.areViewersChecked === true ? "/view-auth" : "off",
      FRONT_ACCESS_LOG: options.accessLog ?? "off",
    }),
  );
  return {
    name: "front proxy",
    file: nginx,
    args: ["-c", path, "-p", options.tempFolder, "-e", "stderr", "-g", "daemon off;"],
    env: {},
    stopSignal: "SIGTERM",
  };
}

export interface RtmpIngestOptions {
  /** The user that nginx's workers run as. */
  readonly user: string;
  /** address:port for broadcasters. */
  readonly rtmpListen: string;
  readonly statusPort: number;
  readonly stateApiPort: number;
  readonly arePublishKeysChecked: boolean;
  /** The port at which the transcoder is notified. */
  readonly transcoderPort: number;
  readonly tempFolder: string;
}

/** Relative to the folder of package.json. */
const INGEST_FOLDER = "deploy/livestream/ingest";

/** Writes the configuration of Debian's nginx as ingest, and returns the command that starts it. */
export function rtmpIngest(parts: DebianParts, options: RtmpIngestOptions): PartCommand {
  const path = join(options.tempFolder, "ingest.conf");
  const stateApiUrl = `http://127.0.0.1:${options.stateApiPort}`;
  const status = `127.0.0.1:${options.statusPort}`;
  writeFileSync(
    path,
    filledTemplate(ingestTemplate(), {
      INGEST_RTMP_MODULE: parts.rtmpModule,
      INGEST_USER: options.user,
      INGEST_TEMP: options.tempFolder,
      INGEST_RTMP_LISTEN: options.rtmpListen,
      INGEST_HTTP_LISTEN: status,
      INGEST_TRANSCODER: `127.0.0.1:${options.transcoderPort}`,
      INGEST_CHECK_KEYS: options.arePublishKeysChecked ? "1" : "0",
      INGEST_STATE_API_URL: stateApiUrl,
    }),
  );
  return {
    name: "ingest",
    file: parts.nginx,
    args: ["-c", path, "-p", options.tempFolder, "-e", "stderr"],
    env: {},
    stopSignal: "SIGTERM",
  };
}

function ingestTemplate(): string {
  return readFileSync(join(packageRoot(), INGEST_FOLDER, "nginx-rtmp.conf"), "utf8");
}

export interface StateApiOptions {
  readonly port: number;
  readonly hlsRoot: string;
  /** The operator's own settings. The values given here take precedence over them. */
  readonly environment: Readonly<Record<string, string>>;
}

const STATE_API_MAIN = fileURLToPath(new URL("../../livestream/main.js", import.meta.url));

export function stateApi({ port, hlsRoot, environment }: StateApiOptions): PartCommand {
  return {
    name: "state API",
    file: process.execPath,
    args: ["--enable-source-maps", STATE_API_MAIN],
    env: {
      LOG_LEVEL: "warn",
      ...environment,
      HOST: "127.0.0.1",
      LIVESTREAM_PORT: String(port),
      HLS_ROOT: hlsRoot,
    },
    stopSignal: "SIGTERM",
  };
}

export interface TranscoderOptions {
  readonly stateApiPort: number;
  /** Loopback if left out. */
  readonly rtmpHost?: string;
  readonly rtmpPort: number;
  readonly statusPort: number;
  /** If set, the transcoder queries MediaMTX instead of nginx and reads it over RTSP at this port. */
  readonly rtspPort?: number | undefined;
  /** The port at which the ingest reports that a broadcaster has left. */
  readonly port: number;
  readonly hlsRoot: string;
  readonly runFolder: string;
  /** The user and group that ffmpeg runs as. If undefined, those of this process. */
  readonly ids: readonly [user: number, group: number] | undefined;
  /** The transcoder's settings from the operator's environment. The values given here take precedence over them. */
  readonly environment: Readonly<Record<string, string>>;
}

const TRANSCODER_MAIN = fileURLToPath(new URL("../livestream-transcoder.js", import.meta.url));

export function transcoder(options: TranscoderOptions): PartCommand {
  const {
    rtmpHost = "127.0.0.1",
    stateApiPort,
    rtmpPort,
    rtspPort,
    statusPort,
    port,
    hlsRoot,
    runFolder,
    ids,
  } = options;
  const ingest =
    rtspPort === undefined
      ? {
          SOURCE_URL: `rtmp://${rtmpHost}:${rtmpPort}/live/KEY`,
          NGINX_STAT_URL: `http://127.0.0.1:${statusPort}/stat`,
        }
      : {
          SOURCE_URL: `rtsp://127.0.0.1:${rtspPort}/live/KEY`,
          MEDIAMTX_API_URL: `http://127.0.0.1:${statusPort}`,
        };
  return {
    name: "transcoder",
    file: process.execPath,
    args: ["--enable-source-maps", TRANSCODER_MAIN],
    env: {
      ...options.environment,
      STATE_API_URL: `http://127.0.0.1:${stateApiPort}`,
      ...ingest,
      TRANSCODER_PORT: String(port),
      HLS_ROOT: hlsRoot,
      RUN_DIR: runFolder,
      ...(ids === undefined
        ? {}
        : { LADDER_USER_ID: String(ids[0]), LADDER_GROUP_ID: String(ids[1]) }),
    },
    stopSignal: "SIGTERM",
  };
}

const USAGE = `Usage: npm run livestream:local

The live-stream component on this machine, without Docker: the state API, the front proxy, a transcoder, and an RTMP ingest made of
Debian's nginx with libnginx-mod-rtmp. Stops everything at Ctrl-C. From the environment:

  HOST                0.0.0.0   for broadcasters and viewers
  FRONT_PORT          8080      viewer page, HLS, /api/streams
  RTMP_PORT           1935
  LIVESTREAM_PORT     4000      state API, on loopback
  INGEST_STATUS_PORT  8936      of the ingest, on loopback
  TRANSCODER_PORT     8937      of the transcoder, on loopback
  MEDIAMTX            none      path of an installed MediaMTX, the ingest then: it also takes WebRTC (WHIP) from browsers
  RTSP_PORT, WEBRTC_PORT        8554 and 8889, of MediaMTX, on loopback
  WEBRTC_UDP_PORT     8189      of MediaMTX, where browsers send media to
  PUBLIC_HOST         none      address of this machine for browsers elsewhere, with MediaMTX
Settings of the state API (PUBLISH_KEYS, MASK_CLIENT_IP, ...) and of the transcoder (SEGMENT_SECONDS, PRESET, LADDER, ...;
deploy/livestream/ingest/README.md) are passed on.`;

/** The settings of the state API that are passed on. This command sets its others. */
const STATE_API_SETTINGS = [
  "LOG_LEVEL",
  "MASK_CLIENT_IP",
  "MAX_EVENT_LISTENERS",
  "MAX_STREAMS",
  "PRIVATE_STREAMS",
  "PUBLIC_BASE_URL",
  "PUBLISH_KEYS",
  "PUBLISH_KEYS_FILE",
  "VIEW_TOKEN_SECRET",
];

export interface LocalDeps {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Aborted when the operator wants the command to stop. */
  readonly stop: AbortSignal;
  /**
   * Called with a function that ends all parts at once, for when this process has to exit before it has stopped them.
   */
  readonly onKill: (killAll: () => void) => void;
}

export function localCommand(surroundings: LocalDeps): Command {
  return {
    usage: USAGE,
    async run(args, terminal) {
      if (args.length > 0)
        throw new UsageError("expected no arguments: settings come from the environment");
      const settings = parseLocalSettings(surroundings.environment);
      if (settings.mediaMtx !== undefined) requireMediaMtx(settings.mediaMtx);
      const debian = requireDebianParts(
        surroundings.environment["PATH"] ?? "",
        settings.mediaMtx === undefined,
      );
      const ports = [settings.frontPort, settings.rtmpPort, settings.stateApiPort];
      requireNoOther(ports);
      await requirePorts(settings);
      const folders = makeLocalFolders();
      noteRunning(folders.root, { pid: process.pid, ports, watchUrl: watchUrl(settings) });
      try {
        await new LocalStack(settings, debian, folders, surroundings, terminal).run();
      } finally {
        removeLocalFolders(folders);
      }
    },
  };
}

function shownHostOf({ host }: LocalSettings): string {
  const isEvery = host === "0.0.0.0" || host === "::";
  return isEvery ? "localhost" : ownAddress(host);
}

function watchUrl(settings: LocalSettings): string {
  return `http://${shownHostOf(settings)}:${settings.frontPort}/`;
}

function requireDebianParts(path: string, needsRtmpModule: boolean): DebianParts {
  const found = findDebianParts(path, { needsRtmpModule });
  if (!("missing" in found)) return found;
  const names = found.missing.join(" ");
  throw new CommandError(`missing: ${names}. Install with: apt-get install -y ${names}`);
}

async function requirePorts(settings: LocalSettings): Promise<void> {
  const { host, frontPort, rtmpPort, stateApiPort, ingestStatusPort, transcoderPort } = settings;
  await requireFreePort("FRONT_PORT", host, frontPort);
  await requireFreePort("RTMP_PORT", host, rtmpPort);
  await requireFreePort("LIVESTREAM_PORT", "127.0.0.1", stateApiPort);
  await requireFreePort("INGEST_STATUS_PORT", "127.0.0.1", ingestStatusPort);
  await requireFreePort("TRANSCODER_PORT", "127.0.0.1", transcoderPort);
  if (settings.mediaMtx === undefined) return;
  await requireFreePort("RTSP_PORT", "127.0.0.1", settings.rtspPort);
  await requireFreePort("WEBRTC_PORT", "127.0.0.1", settings.webrtcPort);
}

/** The four parts. They start in this order and stop in reverse. */
class LocalStack {
  readonly #settings: LocalSettings;
  readonly #folders: LocalFolders;
  readonly #terminal: Terminal;
  readonly #clock = new SystemClock();
  readonly #parts: readonly (readonly [part: RunningPart, healthUrl: string])[];
  readonly #stop: AbortSignal;
  readonly #gaveUp = new AbortController();

  constructor(
    settings: LocalSettings,
    debian: DebianParts,
    folders: LocalFolders,
    surroundings: LocalDeps,
    terminal: Terminal,
  ) {
    this.#settings = settings;
    this.#folders = folders;
    this.#terminal = terminal;
    this.#stop = AbortSignal.any([surroundings.stop, this.#gaveUp.signal]);
    this.#parts = partsOf(settings, debian, folders, surroundings.environment).map(
      ([command, healthUrl]) => [this.#partOf(command), healthUrl],
    );
    surroundings.onKill(() => this.#killAll());
  }

  /** Resolves when every part has stopped; rejects if a part could not be kept running. */
  async run(): Promise<void> {
    try {
      for (const [part, healthUrl] of this.#parts) {
        part.start();
        await untilReady(part.name, healthUrl, this.#clock, this.#stop);
        if (this.#stop.aborted) break;
        part.keep();
      }
      if (!this.#stop.aborted) this.#greet();
      await aborted(this.#stop);
      this.#terminal.print("Stopping.");
    } finally {
      for (const [part] of this.#parts.toReversed()) await part.stop();
    }
    if (this.#gaveUp.signal.aborted) throw new CommandError("a part could not be kept running");
  }

  #partOf(command: PartCommand): RunningPart {
    const say = (line: string) => this.#terminal.print(`[${command.name}] ${printable(line)}`);
    return new RunningPart(
      command,
      {
        onLine: say,
        onStarted: (pid) => say(`started, process ${pid}`),
        onEnded: (reason) => say(reason),
        onGivenUp: () => this.#gaveUp.abort(),
      },
      this.#clock,
    );
  }

  #greet(): void {
    const { rtmpPort, arePublishKeysChecked, mediaMtx } = this.#settings;
    const shownHost = shownHostOf(this.#settings);
    const secret = arePublishKeysChecked ? "?secret=SECRET" : "";
    this.#terminal.print(`Broadcast to  rtmp://${shownHost}:${rtmpPort}/live/NAME${secret}`);
    if (mediaMtx !== undefined) {
      this.#terminal.print(`or in a browser at ${watchUrl(this.#settings)}go-live.html`);
    }
    this.#terminal.print(`Watch at      ${watchUrl(this.#settings)}`);
    this.#terminal.print(`Files in      ${this.#folders.root}`);
    this.#terminal.print("Ready; Ctrl-C stops everything.");
  }

  #killAll(): void {
    for (const [part] of this.#parts) part.kill();
    removeLocalFolders(this.#folders);
  }
}

function partsOf(
  settings: LocalSettings,
  debian: DebianParts,
  folders: LocalFolders,
  environment: Readonly<Record<string, string | undefined>>,
): readonly (readonly [PartCommand, healthUrl: string])[] {
  const { host, frontPort, rtmpPort, stateApiPort, ingestStatusPort, transcoderPort } = settings;
  const { mediaMtx, arePublishKeysChecked } = settings;
  const api = stateApi({
    port: stateApiPort,
    hlsRoot: folders.hls,
    environment: picked(environment, STATE_API_SETTINGS),
  });
  const front = frontProxy(debian.nginx, {
    listen: listenAddress(host, frontPort),
    stateApi: `127.0.0.1:${stateApiPort}`,
    // Debian's nginx has no WebRTC: nothing listens on port 9, so /whip responds with 503.
    webrtc: mediaMtx === undefined ? "127.0.0.1:9" : `127.0.0.1:${settings.webrtcPort}`,
    hlsRoot: folders.hls,
    siteRoot: folders.site,
    tempFolder: folders.front,
    areViewersChecked: settings.areViewersChecked,
  });
  const rtmpListen = listenAddress(host, rtmpPort);
  const tempFolder = folders.ingest;
  const common = { rtmpListen, stateApiPort, transcoderPort, arePublishKeysChecked, tempFolder };
  const ingest =
    mediaMtx === undefined
      ? rtmpIngest(debian, { ...common, user: folders.user, statusPort: ingestStatusPort })
      : mediaMtxIngest(mediaMtx, {
          ...common,
          apiPort: ingestStatusPort,
          rtspPort: settings.rtspPort,
          webrtcPort: settings.webrtcPort,
          webrtcUdpListen: `${bracketed(host)}:${settings.webrtcUdpPort}`,
          publicHost: settings.publicHost,
        });
  const ingestHealth = mediaMtx === undefined ? "stat" : "v3/paths/list";
  const ladders = transcoder({
    stateApiPort,
    rtmpHost: ownAddress(host),
    rtmpPort,
    rtspPort: mediaMtx === undefined ? undefined : settings.rtspPort,
    statusPort: ingestStatusPort,
    port: transcoderPort,
    hlsRoot: folders.hls,
    runFolder: folders.run,
    ids: folders.ids,
    environment: picked(environment, Object.keys(transcoderDefaults())),
  });
  return [
    [api, `http://127.0.0.1:${stateApiPort}/health`],
    [front, `http://${ownAddress(host)}:${frontPort}/front-health`],
    [ladders, `http://127.0.0.1:${transcoderPort}/`],
    [ingest, `http://127.0.0.1:${ingestStatusPort}/${ingestHealth}`],
  ];
}

function picked(
  environment: Readonly<Record<string, string | undefined>>,
  names: readonly string[],
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = environment[name];
      return value === undefined || value === "" ? [] : [[name, value]];
    }),
  );
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) =>
    signal.addEventListener("abort", () => resolve(), { once: true }),
  );
}
