import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Client, type QueryResult } from "pg";
import { freePorts } from "../livestream/free-ports.js";

const INSTALLATIONS = "/usr/lib/postgresql";
const READY = /database system is ready to accept connections/;
const USER = "parley";
/** With it comes Debian's package, which makes the account. */
const ACCOUNT_HOME = "/var/lib/postgresql";

/** PostgreSQL itself, in a folder of its own, until this process ends. Data is not flushed: no test cuts the power. */
export class PostgresCluster {
  readonly #folder: string;
  readonly #port: number;
  #server: ChildProcess | undefined;
  #databaseCount = 0;

  /** Whether Debian's package is on this machine. */
  static isInstalled(): boolean {
    return existsSync(INSTALLATIONS);
  }

  static async start(): Promise<PostgresCluster> {
    const folder = mkdtempSync(join(tmpdir(), "parley-postgres-"));
    process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
    const [port = 0] = await freePorts(1);
    const cluster = new PostgresCluster(folder, port);
    cluster.#make();
    await cluster.resume();
    return cluster;
  }

  private constructor(folder: string, port: number) {
    this.#folder = folder;
    this.#port = port;
  }

  /** The URL of a database of this name, for a user who may do everything. */
  urlOf(database: string): string {
    return `postgres://${USER}:unused@127.0.0.1:${this.#port}/${database}`;
  }

  /** A new database; a copy of the other where one is named. Gives its URL. */
  async makeDatabase(template?: string): Promise<string> {
    this.#databaseCount += 1;
    const name = `test${this.#databaseCount}`;
    const copy = template === undefined ? "" : ` template "${template}"`;
    await this.query(`create database "${name}"${copy}`);
    return this.urlOf(name);
  }

  /** Runs one statement as the user who may do everything. */
  async query(sql: string, url = this.urlOf("postgres")): Promise<QueryResult> {
    const client = new Client({ connectionString: url });
    await client.connect();
    try {
      return await client.query(sql);
    } finally {
      await client.end();
    }
  }

  /** Runs one statement in a transaction that stays open; what it gives ends that. */
  async hold(sql: string, url: string): Promise<() => Promise<void>> {
    const client = new Client({ connectionString: url });
    await client.connect();
    await client.query("begin");
    await client.query(sql);
    return () => client.end();
  }

  /** Whose connections are processes of its own; 0 while it is stopped. */
  get pid(): number {
    return this.#server?.pid ?? 0;
  }

  /** Ends every connection at once, as a crash would. */
  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined) return;
    // Until then, nothing else may keep this process alive.
    server.ref();
    const exit = once(server, "exit");
    server.kill("SIGQUIT");
    await exit;
  }

  /** Starts the server again after `stop`; resolves when it takes connections. */
  async resume(): Promise<void> {
    const data = join(this.#folder, "data");
    const options = [`port=${this.#port}`, "listen_addresses=127.0.0.1", "fsync=off"];
    options.push(`unix_socket_directories=${this.#folder}`, "max_connections=200");
    options.push("shared_preload_libraries=pg_stat_statements");
    const [command, args] = unprivileged(program("postgres"), [
      "-D",
      data,
      ...options.flatMap((option) => ["-c", option]),
    ]);
    const server = spawn(command, args, { stdio: ["ignore", "ignore", "pipe"] });
    this.#server = server;
    process.once("exit", () => server.kill("SIGQUIT"));
    const lines = createInterface(server.stderr);
    const said: string[] = [];
    for await (const line of lines) {
      said.push(line);
      if (READY.test(line)) break;
    }
    if (!said.some((line) => READY.test(line))) throw new Error(said.join("\n"));
    server.stderr.resume();
    server.unref();
    server.stderr.destroy();
  }

  #make(): void {
    if (process.getuid?.() === 0) {
      const { uid, gid } = statSync(ACCOUNT_HOME);
      chownSync(this.#folder, uid, gid);
    }
    chmodSync(this.#folder, 0o700);
    const options = ["-A", "trust", "-U", USER, "-E", "UTF8", "--no-sync"];
    const data = join(this.#folder, "data");
    const [command, args] = unprivileged(program("initdb"), ["-D", data, ...options]);
    const { status, stderr, error } = spawnSync(command, args, { encoding: "utf8" });
    if (status !== 0) throw new Error(`initdb: ${error?.message ?? stderr}`);
  }
}

/** PostgreSQL refuses to run as root. */
function unprivileged(command: string, args: readonly string[]): readonly [string, string[]] {
  if (process.getuid?.() !== 0) return [command, [...args]];
  const account = ["--reuid=postgres", "--regid=postgres", "--init-groups"];
  return ["setpriv", [...account, command, ...args]];
}

/** Debian keeps the programs of each version in a folder of its own. */
function program(name: string): string {
  const versions = readdirSync(INSTALLATIONS).sort((one, other) => Number(one) - Number(other));
  const newest = versions.at(-1);
  if (newest === undefined) throw new Error("Debian's package postgresql is not installed");
  return join(INSTALLATIONS, newest, "bin", name);
}
