import { execFileSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { connect as connectPlain, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import { packageRoot } from "../../api/commands/livestream-local/package-root.js";
import { RunningPart } from "../../api/commands/livestream-local/running-part.js";
import { replaced } from "../../bench/kills/several-nginx.js";
import { freePorts } from "../../bench/livestream/free-ports.js";
import { debianProgram } from "../../bench/stand/debian-program.js";
import { SystemClock } from "../../engine/time/clock.js";
import { eventually } from "../system/eventually.js";

export interface NginxStandOptions {
  /** The address at which nginx expects Parley. */
  readonly upstreamPort: number;
  /** Changes the text of deploy/nginx.conf, after the stand's own changes. */
  readonly change?: (conf: string) => string;
}

/** Real nginx with deploy/nginx.conf, on free loopback ports, with its own certificate. */
export class NginxStand {
  readonly port: number;
  readonly plainPort: number;
  readonly #folder: string;
  readonly #lines: string[] = [];
  readonly #part: RunningPart;

  static async start(options: NginxStandOptions): Promise<NginxStand> {
    const [port = 0, plainPort = 0] = await freePorts(2);
    const stand = new NginxStand(port, plainPort, options);
    stand.#part.start();
    await eventually("nginx", () =>
      stand.exchange("GET /metrics HTTP/1.0\r\n\r\n").then(
        (answer) => answer.startsWith("HTTP/1.1 404") || undefined,
        () => undefined,
      ),
    );
    return stand;
  }

  private constructor(port: number, plainPort: number, options: NginxStandOptions) {
    this.port = port;
    this.plainPort = plainPort;
    this.#folder = mkdtempSync(join(tmpdir(), "parley-nginx-test-"));
    chmodSync(this.#folder, 0o755);
    mkdirSync(join(this.#folder, "logs"));
    const certificate = join(this.#folder, "certificate.pem");
    const key = join(this.#folder, "certificate.key");
    const subject = ["-days", "1", "-subj", "/CN=voice.example.com"];
    const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
    const files = ["-keyout", key, "-out", certificate];
    execFileSync(debianProgram("openssl"), ["req", "-x509", ...newKey, ...subject, ...files], {
      stdio: "ignore",
    });
    let conf = readFileSync(join(packageRoot(), "deploy/nginx.conf"), "utf8");
    conf = replaced(conf, "/etc/ssl/certs/voice.example.com.pem", certificate);
    conf = replaced(conf, "/etc/ssl/private/voice.example.com.key", key);
    conf = replaced(conf, "/var/log/nginx/", `${this.#folder}/logs/`);
    conf = replaced(conf, "listen 80 ", `listen 127.0.0.1:${plainPort} `);
    conf = replaced(conf, "listen [::]:80 ", `listen [::1]:${plainPort} `);
    conf = replaced(conf, "listen 443 ", `listen 127.0.0.1:${port} `);
    conf = replaced(conf, "listen [::]:443 ", `listen [::1]:${port} `);
    conf = replaced(conf, "server 127.0.0.1:8080;", `server 127.0.0.1:${options.upstreamPort};`);
    const path = join(this.#folder, "nginx.conf");
    writeFileSync(path, this.#deps(options.change?.(conf) ?? conf));
    const note = (line: string) => void this.#lines.push(line);
    this.#part = new RunningPart(
      {
        name: "nginx",
        file: debianProgram("nginx"),
        args: ["-c", path, "-p", this.#folder, "-e", "stderr", "-g", "daemon off;"],
        env: {},
        stopSignal: "SIGTERM",
      },
      { onLine: note, onStarted: () => undefined, onEnded: note, onGivenUp: () => undefined },
      new SystemClock(),
    );
  }

  /** Everything that nginx wrote, to files and to its outputs. */
  get logs(): string {
    const folder = join(this.#folder, "logs");
    const texts = readdirSync(folder).map((name) => readFileSync(join(folder, name), "utf8"));
    return [...texts, ...this.#lines].join("\n");
  }

  /** The lines of deploy/nginx.conf's own log. */
  get accessLines(): readonly string[] {
    const text = readFileSync(join(this.#folder, "logs/parley.log"), "utf8");
    return text.split("\n").filter((line) => line !== "");
  }

  /** Opens a TLS connection and resolves when it is ready for data. */
  async connection(): Promise<Socket> {
    return new Promise((resolve, reject) => {
      const options = { host: "127.0.0.1", port: this.port, rejectUnauthorized: false };
      const socket = connectTls({ ...options, servername: "voice.example.com" }, () =>
        resolve(socket),
      );
      socket.once("error", reject);
    });
  }

  /** Sends the bytes unchanged, and resolves with all that was received, once nginx has closed the connection. */
  async exchange(bytes: string): Promise<string> {
    const socket = await this.connection();
    return answerOf(socket, bytes);
  }

  /** Exchanges bytes like `exchange`, but without TLS, on either port. */
  async plainExchange(bytes: string, port = this.plainPort): Promise<string> {
    return answerOf(connectPlain(port, "127.0.0.1"), bytes);
  }

  async stop(): Promise<void> {
    await this.#part.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Like Debian's /etc/nginx/nginx.conf, with the most detailed logs that nginx offers. */
  #deps(conf: string): string {
    const folder = this.#folder;
    const buffers = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
    return `pid ${folder}/nginx.pid;
error_log ${folder}/logs/error.log debug;
events { worker_connections 256; }
http {
  access_log ${folder}/logs/access.log;
  # Its end shows a client that an answer is whole.
  keepalive_timeout 0;
  lingering_timeout 1s;
${buffers.map((name) => `  ${name}_temp_path ${folder}/${name};`).join("\n")}
${conf}
}
`;
  }
}

function answerOf(socket: Socket, bytes: string): Promise<string> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    socket.on("data", (chunk) => chunks.push(chunk));
    // The connection may be reset after the response, since nginx does not read on from a client that it has refused.
    socket.on("error", () => undefined);
    socket.on("close", () => resolve(Buffer.concat(chunks).toString("latin1")));
    socket.write(bytes);
  });
}
