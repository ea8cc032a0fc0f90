import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { findDebianParts } from "../../api/commands/livestream-local/debian-packages.js";
import { frontProxy } from "../../api/commands/livestream-local/local-command.js";
import { RunningPart } from "../../api/commands/livestream-local/running-part.js";
import { freePorts } from "../../bench/livestream/free-ports.js";
import { SystemClock } from "../../engine/time/clock.js";
import { eventually } from "../system/eventually.js";

export interface Reply {
  readonly status: number;
  /** Names in lower case. The values of repeated headers are joined, so that a test notices them. */
  readonly headers: ReadonlyMap<string, string>;
  /** One character per byte. */
  readonly body: string;
}

const SITE = fileURLToPath(new URL("../../site", import.meta.url));

/** Only the front proxy, with Debian's nginx; a test starts any servers behind it. */
export class FrontStand {
  readonly port: number;
  readonly stateApiPort: number;
  readonly webrtcPort: number;
  readonly folder: string;
  /** nginx's log lines. */
  readonly lines: string[] = [];
  readonly #part: RunningPart;

  static async start({ areViewersChecked = false } = {}): Promise<FrontStand> {
    const [port = 0, stateApiPort = 0, webrtcPort = 0] = await freePorts(3);
    const stand = new FrontStand([port, stateApiPort, webrtcPort], areViewersChecked);
    stand.#part.start();
    await eventually("the front proxy", () =>
      fetch(`${stand.url}/front-health`).then(
        ({ ok }) => ok || undefined,
        () => undefined,
      ),
    );
    return stand;
  }

  private constructor(
    [port, stateApiPort, webrtcPort]: readonly [number, number, number],
    areViewersChecked: boolean,
  ) {
    this.port = port;
    this.stateApiPort = stateApiPort;
    this.webrtcPort = webrtcPort;
    this.folder = mkdtempSync(join(tmpdir(), "parley-front-test-"));
    chmodSync(this.folder, 0o755);
    mkdirSync(join(this.folder, "hls"));
    mkdirSync(join(this.folder, "nginx"));
    cpSync(SITE, join(this.folder, "site"), { recursive: true });
    const debian = findDebianParts(process.env["PATH"] ?? "");
    if ("missing" in debian) throw new Error(`missing: ${debian.missing.join(" ")}`);
    const command = frontProxy(debian.nginx, {
      listen: `127.0.0.1:${port}`,
      stateApi: `127.0.0.1:${stateApiPort}`,
      webrtc: `127.0.0.1:${webrtcPort}`,
      hlsRoot: join(this.folder, "hls"),
      siteRoot: join(this.folder, "site"),
      tempFolder: join(this.folder, "nginx"),
      areViewersChecked,
      accessLog: `${this.accessLog} front`,
    });
    const note = (line: string) => void this.lines.push(line);
    const onGivenUp = () => note("given up");
    this.#part = new RunningPart(
      command,
      { onLine: note, onStarted: () => undefined, onEnded: note, onGivenUp },
      new SystemClock(),
    );
  }

  get accessLog(): string {
    return join(this.folder, "nginx/access.log");
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Writes a file in the HLS folder, and creates missing folders of its path. */
  put(path: string, content: string | Buffer): void {
    const file = join(this.folder, "hls", path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
  }

  /** Sends the path unchanged: a client that normalizes it would hide what is tested. */
  ask(
    method: string,
    path: string,
    headers: Readonly<Record<string, string>> = {},
    body = "",
  ): Promise<Reply> {
    const lines = [
      `${method} ${path} HTTP/1.1`,
      "Host: viewer.example",
      "Connection: close",
      ...(body === "" ? [] : [`Content-Length: ${Buffer.byteLength(body)}`]),
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ];
    return new Promise((resolve, reject) => {
      const socket = connect(this.port, "127.0.0.1", () =>
        socket.write(`${lines.join("\r\n")}\r\n\r\n${body}`),
      );
      const chunks: Buffer[] = [];
      socket.on("data", (chunk) => chunks.push(chunk));
      socket.on("error", reject);
      socket.on("end", () => resolve(readReply(Buffer.concat(chunks).toString("latin1"))));
    });
  }

  async stop(): Promise<void> {
    await this.#part.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function readReply(text: string): Reply {
  const [head = "", ...rest] = text.split("\r\n\r\n");
  const [statusLine = "", ...fields] = head.split("\r\n");
  const headers = new Map<string, string>();
  for (const field of fields) {
    const name = field.slice(0, field.indexOf(":")).toLowerCase();
    const value = field.slice(field.indexOf(":") + 1).trim();
    const before = headers.get(name);
    headers.set(name, before === undefined ? value : `${before} & ${value}`);
  }
  const body = rest.join("\r\n\r\n");
  return {
    status: Number(statusLine.split(" ")[1]),
    headers,
    body: headers.get("transfer-encoding") === "chunked" ? dechunked(body) : body,
  };
}

function dechunked(body: string): string {
  let rest = body;
  let whole = "";
  for (;;) {
    const end = rest.indexOf("\r\n");
    const size = Number.parseInt(rest.slice(0, end), 16);
    if (!(size > 0)) return whole;
    whole += rest.slice(end + 2, end + 2 + size);
    rest = rest.slice(end + 4 + size);
  }
}
