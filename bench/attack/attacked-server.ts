import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as v from "valibot";
import { type Demo, readDemo } from "../../engine/tenancy/seeding/demo-file.js";
import { BenchProcess } from "../stand/child-process.js";
import { READY_MAX_MS, SERVER_FLAGS, serverEnvironment, type VendorStand } from "../stand/stand.js";

export interface ServerOptions {
  readonly urls: VendorStand["urls"];
  /** One of its own, which is removed at the end, unless given. */
  readonly dataDir?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly nodeFlags?: readonly string[];
  /** Left out: on any core that this process may use. */
  readonly core?: number;
}

export interface Ask {
  /** The demo organization's key unless given; empty sends none. */
  readonly apiKey?: string;
  readonly body?: unknown;
  /** Sent as it is, in place of `body`. */
  readonly raw?: Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Parsed; undefined where it is no JSON. */
  readonly body: unknown;
}

/** A request that is not answered in this time has none. */
const ANSWER_MAX_MS = 20_000;
const COMPLAINTS_MAX = 20;
/** Lines that no server may ever log, whatever is done to it. */
const COMPLAINT =
  /unhandled promise rejection|the conversation failed|slots of dead calls|broke its contract|the transition|TypeError|RangeError|ReferenceError|AssertionError/;

const Page = v.object({
  total: v.number(),
  items: v.array(v.object({ _id: v.string(), status: v.string() })),
});

/** The first event of those who watch calls, whole. */
const WATCH_BEGUN = /^event: watching\n.*\n\n/;

/** The whole server as it is shipped, in a process and a folder of its own. */
export class AttackedServer {
  readonly dataDir: string;
  /** Lines of its log that tell of a fault of its own. */
  readonly complaints: string[] = [];
  readonly #options: ServerOptions;
  readonly #awaited: { readonly words: string; readonly resolve: () => void }[] = [];
  #process: BenchProcess | undefined;
  #demo: Demo | undefined;

  static async start(options: ServerOptions): Promise<AttackedServer> {
    const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), "parley-attack-")));
    const server = new AttackedServer(dataDir, options);
    await server.start();
    return server;
  }

  private constructor(dataDir: string, options: ServerOptions) {
    this.dataDir = dataDir;
    this.#options = options;
  }

  get process(): BenchProcess {
    if (this.#process === undefined) throw new Error("the server was not started");
    return this.#process;
  }

  get url(): string {
    return this.process.ready;
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  /** The first organization, on the largest plan. */
  get demo(): Demo {
    if (this.#demo === undefined) throw new Error("the server made no demo organization");
    return this.#demo;
  }

  get apiKey(): string {
    return this.demo.apiKey;
  }

  /** Starts it again on the same folder. */
  async start(): Promise<void> {
    const { urls, environment, nodeFlags = [], core } = this.#options;
    this.#process = await BenchProcess.start({
      script: "../main.js",
      nodeFlags: [...nodeFlags, ...SERVER_FLAGS],
      env: {
        ...serverEnvironment(this.dataDir, urls),
        AUTH_REQUESTS_PER_MINUTE: "1000000",
        VENDOR_REQUESTS_PER_MINUTE: "1000000",
        ALLOW_PRIVATE_PROVIDERS: "true",
        DRAIN_TIMEOUT_SEC: "0",
        ...environment,
      },
      ...(core === undefined ? {} : { core }),
      readyMaxMs: READY_MAX_MS,
      readyPattern: /listens on (\S+)/,
      onLine: (line) => this.#note(line),
    });
    this.#demo = await readDemo(this.dataDir);
  }

  /** As `kill -9` does. */
  kill(): Promise<void> {
    return this.process.kill();
  }

  async ask(method: string, path: string, ask: Ask = {}): Promise<Answer> {
    const { apiKey: key = this.apiKey, body, raw, headers } = ask;
    const sent = raw ?? (body === undefined || method === "GET" ? undefined : JSON.stringify(body));
    const response = await fetch(`${this.url}${path}`, {
      method,
      headers: {
        ...(key === "" ? {} : { "x-api-key": key }),
        ...(sent === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(sent === undefined ? {} : { body: sent }),
      signal: AbortSignal.timeout(ANSWER_MAX_MS),
    });
    const text = await textOf(response);
    return { status: response.status, headers: response.headers, text, body: jsonOf(text) };
  }

  /** The answer's body in this form; throws when it has another, or the server refused. */
  async read<Schema extends v.GenericSchema>(
    schema: Schema,
    method: string,
    path: string,
    ask: Ask = {},
  ): Promise<v.InferOutput<Schema>> {
    const { status, body, text } = await this.ask(method, path, ask);
    if (status >= 400) throw new Error(`${method} ${path} was answered ${status}: ${text}`);
    return v.parse(schema, body);
  }

  /** The newest calls of an organization, 100 at most, and how many there are. */
  calls(filter = "", apiKey = this.apiKey) {
    return this.read(Page, "GET", `/api/dashboard/calls?limit=100${filter}`, { apiKey });
  }

  async activeCount(apiKey = this.apiKey): Promise<number> {
    return (await this.calls("&status=active", apiKey)).total;
  }

  /** Resolves when a line of its output holds these words. */
  says(words: string): Promise<void> {
    return new Promise((resolve) => {
      this.#awaited.push({ words, resolve });
    });
  }

  /** Stops it; says what was wrong with how it ended, and removes its folder. */
  async close(): Promise<string | undefined> {
    const wasRunning = this.process.isRunning;
    await this.process.stop();
    const { exitCode } = this.process;
    if (this.#options.dataDir === undefined) {
      await rm(this.dataDir, { recursive: true, force: true });
    }
    if (!wasRunning) return "the server was not running any more";
    return exitCode === 0 ? undefined : `asked to stop, the server ended with ${exitCode}`;
  }

  #note(line: string): void {
    for (const { words, resolve } of this.#awaited) if (line.includes(words)) resolve();
    if (this.complaints.length < COMPLAINTS_MAX && COMPLAINT.test(line)) this.complaints.push(line);
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Its body; of a watch, which goes on for a minute, what it begins with. */
async function textOf({ body }: Response): Promise<string> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (WATCH_BEGUN.test(text)) break;
  }
  return text + decoder.decode();
}
