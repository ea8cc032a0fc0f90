import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isNotRun } from "../docs/blocks-not-run.js";
import type { Block, Page } from "../docs/pages.js";
import { expectPrinted } from "../docs/printed-lines.js";
import { RUNNING_COMMANDS, type RunningCommand } from "./running-commands.js";
import { shortNpm } from "./short-npm.js";
import { TerminalSession } from "./terminal-session.js";

/** npm asks nobody whether there is a newer one. */
const ENVIRONMENT = {
  HOST: "127.0.0.1",
  PORT: "0",
  LIVESTREAM_PORT: "0",
  LOG_LEVEL: "warn",
  // Tests share a small machine; how a full one refuses calls is tested by itself.
  EVENT_LOOP_DELAY_MAX_MS: "0",
  npm_config_update_notifier: "false",
};
const SERVER = "npm start";

/** Does what a page says, block by block, in a folder of its own. Rejects at the first thing that is not as the page says. */
export async function walk({ blocks, path }: Page, folder: string): Promise<void> {
  const { PATH = "", HOME = "" } = process.env;
  const session = new TerminalSession(
    folder,
    { PATH, HOME, ...ENVIRONMENT },
    path === "README.md" ? "" : shortNpm(),
  );
  const reader = new Reader(session, folder);
  try {
    const isStarted = blocks.some(
      ({ text }) => runningCommandOf(asRun(text))?.documentedPort === "8080",
    );
    if (!isStarted && blocks.some(({ language }) => language === "sh")) await reader.type(SERVER);
    for (const block of blocks) await reader.follow(block);
    reader.expectShown();
  } finally {
    await session.close();
  }
}

class Reader {
  readonly #session: TerminalSession;
  readonly #folder: string;
  /** By documented port: what runs there, and the port in its place. */
  readonly #running = new Map<string, { readonly jobId: number; readonly port: string }>();
  #printed: string | undefined;

  constructor(session: TerminalSession, folder: string) {
    this.#session = session;
    this.#folder = folder;
  }

  async follow(block: Block): Promise<void> {
    const { language, fileName, text, place } = block;
    try {
      if (language === "output") {
        assert.ok(this.#printed !== undefined, "commands that were run stand above it");
        expectPrinted(this.#printed, text);
        this.#printed = undefined;
      } else if (language === "sh") {
        this.#expectNoRefusal();
        this.expectShown();
        this.#printed = isNotRun(block) ? undefined : await this.type(asRun(text));
      } else if (fileName !== undefined && language !== "ini") {
        await writeFile(join(this.#folder, fileName), this.#withPorts(text));
      }
    } catch (error) {
      throw new Error(`${place}: ${error instanceof Error ? error.message : String(error)}`, {
        cause: error,
      });
    }
  }

  /** Fails when commands printed something that the page does not show: nobody would see that it changed. */
  expectShown(): void {
    const printed = this.#printed ?? "";
    assert.ok(printed.trim() === "", `the page does not show what its commands print:\n${printed}`);
  }

  /** What it prints; nothing for what goes on running. */
  async type(commands: string): Promise<string | undefined> {
    const running = runningCommandOf(commands);
    if (running === undefined) return this.#session.run(this.#withPorts(commands));
    await this.#start(commands, running);
    return undefined;
  }

  /** A server that is started a second time takes the place of the first. */
  async #start(command: string, { documentedPort, listening }: RunningCommand): Promise<void> {
    const earlier = this.#running.get(documentedPort);
    if (earlier !== undefined) await this.#session.stop(earlier.jobId);
    // The earlier server was given its port by the system, which holds such a one back for a minute.
    await this.#session.run("export PORT=0");
    const job = await this.#session.start(this.#withPorts(command), listening);
    this.#running.set(documentedPort, job);
    const { port } = this.#running.get("8080") ?? { port: "0" };
    await this.#session.run(`export PORT=${port}`);
    // A server listens before it takes calls: its audio pool is ready a moment later, on a busy machine several seconds.
    if (documentedPort === "8080") await this.#session.run(untilReady(port));
  }

  /** Any free port where none is known yet. */
  #withPorts(text: string): string {
    const ports = RUNNING_COMMANDS.map(({ documentedPort }) => documentedPort).join("|");
    return text.replaceAll(
      new RegExp(`\\b(?:${ports})\\b`, "g"),
      (port) => this.#running.get(port)?.port ?? "0",
    );
  }

  /** A refusal that a page does not show is one that it does not know of: curl itself is content with it. */
  #expectNoRefusal(): void {
    assert.doesNotMatch(this.#printed ?? "", /"error":|^undefined$/m);
  }
}

/** The session ends a command that takes too long. */
function untilReady(port: string): string {
  return `until curl -sf http://127.0.0.1:${port}/api/ready >/dev/null; do sleep 0.1; done`;
}

function asRun(text: string): string {
  return text.replaceAll("npm ci && ", "");
}

function runningCommandOf(text: string): RunningCommand | undefined {
  return RUNNING_COMMANDS.find(({ command }) => command.test(text));
}
