import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, watch, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { freePorts } from "../../bench/livestream/free-ports.js";
import { ViewerBrowser } from "../../bench/livestream/viewer-browser.js";

const MAIN = fileURLToPath(new URL("../../main.js", import.meta.url));
/** Takes the place of the program with which a desktop opens an address in a browser. */
const OPENER = `#!/bin/sh
printf %s "$1" > "$DATA_DIR/opening" && mv "$DATA_DIR/opening" "$DATA_DIR/opened"
`;
/** The time that a new user may need after `npm ci`. */
const FIRST_REPLY_MAX_MS = 120_000;

test("a new user hears a reply in the browser within two minutes after the installation", async (context) => {
  const dataDir = await mkdtemp(join(tmpdir(), "parley-first-"));
  const [port = 0] = await freePorts(1);
  const programs = join(dataDir, "programs");
  await mkdir(programs);
  await writeFile(join(programs, "xdg-open"), OPENER, { mode: 0o755 });
  const opened = contentOf(dataDir, "opened");
  const beganAtMs = performance.now();
  const server = spawn(process.execPath, [MAIN, "--open"], {
    env: {
      PATH: `${programs}:${process.env["PATH"]}`,
      DATA_DIR: dataDir,
      PORT: String(port),
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(server, "exit");
  context.after(async () => {
    server.kill("SIGKILL");
    await exited;
    await rm(dataDir, { recursive: true });
  });
  let address: string | undefined;
  for await (const line of createInterface({ input: server.stdout })) {
    address = /http:\S+\/console#token=\S+/.exec(line)?.[0];
    if (address !== undefined) break;
  }
  assert.ok(address, "the server prints the address of its console");
  assert.equal(await opened, address, "the server opens the address in a browser");
  const startedMs = performance.now() - beganAtMs;

  const browser = await ViewerBrowser.start();
  context.after(() => browser.stop());
  const viewer = await browser.prepare();
  const { page } = viewer;
  await page.goto(address);
  await page.getByRole("link", { name: "Talk", exact: true }).first().click();
  await page.locator(".talk-button").click();
  await page.getByText("Listening", { exact: true }).waitFor();
  await page.keyboard.type("My name is Ada.");
  await page.keyboard.press("Enter");
  const words = page.getByRole("log", { name: "What is said" });
  await words.getByText("Nice to meet you, Ada.").waitFor();
  const repliedMs = performance.now() - beganAtMs;
  const seconds = (durationMs: number) => (durationMs / 1_000).toFixed(1);
  context.diagnostic(
    `the server listens after ${seconds(startedMs)} s, replies after ${seconds(repliedMs)} s`,
  );
  assert.ok(repliedMs <= FIRST_REPLY_MAX_MS, seconds(repliedMs));
  assert.deepEqual(viewer.faults, []);
});

/** Resolves with the content of the file once it exists. */
async function contentOf(folder: string, name: string): Promise<string> {
  for await (const { filename } of watch(folder, { persistent: false })) {
    if (filename === name) return readFile(join(folder, name), "utf8");
  }
  throw new Error(`${folder} is watched no more`);
}
