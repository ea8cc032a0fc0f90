import { SystemClock } from "../../../engine/time/clock.js";
import { transcoderDefaults } from "../../livestream/transcoder/transcoder-config.js";
import type { Command } from "../command.js";
import { CommandFault, UsageFault } from "../command-fault.js";
import type { Terminal } from "../terminal.js";
import { printable } from "../terminal.js";
import { type DebianParts, findDebianParts } from "./debian-packages.js";
import { frontProxy } from "./front-proxy.js";
import { type LocalFolders, makeLocalFolders, removeLocalFolders } from "./local-folders.js";
import {
  type LocalSettings,
  listenAddress,
  ownAddress,
  parseLocalSettings,
} from "./local-settings.js";
import { demandFreePort, untilReady } from "./readiness.js";
import { rtmpIngest } from "./rtmp-ingest.js";
import { demandNoOther, noteRunning } from "./running-copies.js";
import { type PartCommand, RunningPart } from "./running-part.js";
import { stateApi } from "./state-api.js";
import { transcoder } from "./transcoder.js";

const USAGE = `Usage: npm run livestream:local

The live-stream component on this machine, without Docker: the state API, the front proxy, a transcoder, and an RTMP ingest made of
Debian's nginx with libnginx-mod-rtmp. Stops everything at Ctrl-C. From the environment:

  HOST                0.0.0.0   for broadcasters and viewers
  FRONT_PORT          8080      viewer page, HLS, /api/streams
  RTMP_PORT           1935
  LIVESTREAM_PORT     4000      state API, on loopback
  INGEST_STATUS_PORT  8936      of the ingest, on loopback
  TRANSCODER_PORT     8937      of the transcoder, on loopback
Settings of the state API (PUBLISH_KEYS, MASK_CLIENT_IP, ...) and of the transcoder (SEGMENT_SECONDS, PRESET, LADDER, ...;
deploy/livestream/ingest/README.md) are passed on.`;

/** The settings of the state API that are passed on; its others are set here. */
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

export interface LocalSurroundings {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Aborted when the operator wants it to stop. */
  readonly stop: AbortSignal;
  /** Told how to end all parts at once, for when this process has to end before it has stopped them. */
  readonly onKill: (killAll: () => void) => void;
}

export function localCommand(surroundings: LocalSurroundings): Command {
  return {
    usage: USAGE,
    async run(args, terminal) {
      if (args.length > 0)
        throw new UsageFault("no arguments are known; settings come from the environment");
      const settings = parseLocalSettings(surroundings.environment);
      const debian = demandDebianParts(surroundings.environment["PATH"] ?? "");
      const ports = [settings.frontPort, settings.rtmpPort, settings.stateApiPort];
      demandNoOther(ports);
      await demandPorts(settings);
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

function demandDebianParts(path: string): DebianParts {
  const found = findDebianParts(path);
  if (!("missing" in found)) return found;
  const names = found.missing.join(" ");
  throw new CommandFault(`missing: ${names}. Install with: apt-get install -y ${names}`);
}

async function demandPorts(settings: LocalSettings): Promise<void> {
  const { host, frontPort, rtmpPort, stateApiPort, ingestStatusPort, transcoderPort } = settings;
  await demandFreePort("FRONT_PORT", host, frontPort);
  await demandFreePort("RTMP_PORT", host, rtmpPort);
  await demandFreePort("LIVESTREAM_PORT", "127.0.0.1", stateApiPort);
  await demandFreePort("INGEST_STATUS_PORT", "127.0.0.1", ingestStatusPort);
  await demandFreePort("TRANSCODER_PORT", "127.0.0.1", transcoderPort);
}

/** The four parts, started in order and stopped in reverse. */
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
    surroundings: LocalSurroundings,
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

  /** Resolves when all has been stopped; rejects when a part could not be kept running. */
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
    if (this.#gaveUp.signal.aborted) throw new CommandFault("a part could not be kept running");
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
    const { rtmpPort, arePublishKeysChecked } = this.#settings;
    const shownHost = shownHostOf(this.#settings);
    const secret = arePublishKeysChecked ? "?secret=SECRET" : "";
    this.#terminal.print(`Broadcast to  rtmp://${shownHost}:${rtmpPort}/live/NAME${secret}`);
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
  const api = stateApi({
    port: stateApiPort,
    hlsRoot: folders.hls,
    environment: picked(environment, STATE_API_SETTINGS),
  });
  const front = frontProxy(debian.nginx, {
    listen: listenAddress(host, frontPort),
    stateApi: `127.0.0.1:${stateApiPort}`,
    // The stand-in has no WebRTC: port 9 is closed, and /whip answers 503.
    webrtc: "127.0.0.1:9",
    hlsRoot: folders.hls,
    siteRoot: folders.site,
    tempFolder: folders.front,
    areViewersChecked: settings.areViewersChecked,
  });
  const ingest = rtmpIngest(debian, {
    user: folders.user,
    rtmpListen: listenAddress(host, rtmpPort),
    statusPort: ingestStatusPort,
    stateApiPort,
    transcoderPort,
    arePublishKeysChecked: settings.arePublishKeysChecked,
    tempFolder: folders.ingest,
  });
  const ladders = transcoder({
    stateApiPort,
    rtmpHost: ownAddress(host),
    rtmpPort,
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
    [ingest, `http://127.0.0.1:${ingestStatusPort}/stat`],
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
