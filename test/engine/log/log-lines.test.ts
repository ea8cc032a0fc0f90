import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { test } from "node:test";

const LOG = new URL("../../../engine/log.js", import.meta.url).href;

/** A process that logs on request, and reports on standard error what it did. */
const SPEAKER = `
import { closeSync, fstat, openSync } from "node:fs";
import { createInterface } from "node:readline";
const { newLogger } = await import(${JSON.stringify(LOG)});
const log = newLogger("info");
for await (const order of createInterface({ input: process.stdin })) {
  const [verb, count] = order.split(" ");
  for (let line = 0; line < Number(count); line += 1) log.info({ line, filling: "x".repeat(200) }, verb);
  if (verb === "exit") process.exit(7);
  // With one thread, earlier requests have been answered by then.
  if (verb === "settle") for (let n = 0; n < 8; n += 1) await new Promise((done) => fstat(0, done));
  if (verb === "reopen") {
    closeSync(1);
    openSync(count, "a");
  }
  setImmediate(() => process.stderr.write("logged\\n"));
}`;
interface Speaker {
  readonly child: ChildProcess;
  readonly stdin: Writable;
  readonly stderr: Readable;
}

function speaker(output: "pipe" | number): Speaker {
  const args = ["--input-type=module", "--eval", SPEAKER];
  const env = { ...process.env, UV_THREADPOOL_SIZE: "1" };
  const child = spawn(process.execPath, args, { env, stdio: ["pipe", output, "pipe"] });
  const { stdin, stderr } = child;
  assert.ok(stdin !== null && stderr !== null);
  return { child, stdin, stderr };
}

function outputOf({ child: { stdout } }: Speaker): Readable {
  assert.ok(stdout);
  return stdout;
}

async function order({ stdin, stderr }: Speaker, words: string): Promise<void> {
  stdin.write(`${words}\n`);
  await once(stderr, "data");
}

/** The exit code of a process that logs `count` lines and exits immediately. */
async function exitCode({ child, stdin }: Speaker, count: number): Promise<unknown> {
  const ended = once(child, "exit");
  stdin.end(`exit ${count}\n`);
  const [code] = await ended;
  return code;
}

test("every line is there, in order, when a process logs and exits at once", async () => {
  const child = speaker("pipe");
  const output = text(outputOf(child));
  assert.equal(await exitCode(child, 300), 7);
  const lines = (await output)
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line).line);
  assert.deepEqual(
    lines,
    Array.from({ length: 300 }, (_, line) => line),
  );
});

test("a closed reader blocks neither the logger nor the process's end", async () => {
  const child = speaker("pipe");
  await order(child, "read 1");
  outputOf(child).destroy();
  await order(child, "unread 10");
  await order(child, "unread 10");
  assert.equal(await exitCode(child, 10), 7);
});

test("a reader that went unnoticed does not stop the process's end", async () => {
  const child = speaker("pipe");
  await order(child, "read 1");
  outputOf(child).destroy();
  assert.equal(await exitCode(child, 10), 7);
});

test("a full disk loses lines and nothing else", async () => {
  const full = openSync("/dev/full", "w");
  const child = speaker(full);
  closeSync(full);
  await order(child, "lost 10");
  await order(child, "lost 10");
  assert.equal(await exitCode(child, 0), 7);
});

test("a disk that has room again gets the number of dropped lines", async (context) => {
  const folder = await mkdtemp(join(tmpdir(), "parley-log-"));
  context.after(() => rm(folder, { recursive: true }));
  const path = join(folder, "log");
  const full = openSync("/dev/full", "w");
  const child = speaker(full);
  closeSync(full);
  for (const verb of ["first", "second"]) await order(child, `${verb} 10`);
  await order(child, "settle 0");
  await order(child, `reopen ${path}`);
  await order(child, "third 10");
  assert.equal(await exitCode(child, 0), 7);
  const lines = readFileSync(path, "utf8").trimEnd().split("\n");
  const isLoss = (line: string) => line.includes("log lines were dropped");
  const loss = lines.find(isLoss) ?? "{}";
  const { lostLines, reason } = JSON.parse(loss);
  assert.match(reason, /ENOSPC/);
  assert.equal(lostLines + lines.filter((line) => !isLoss(line)).length, 30);
});

test("a reader that does not read costs a bounded number of lines, and the log says how many", async () => {
  const child = speaker("pipe");
  await order(child, "many 20000");
  const lines: string[] = [];
  for await (const line of createInterface({ input: outputOf(child) })) {
    lines.push(line);
    if (line.includes("log lines were dropped")) child.stdin.end("exit 0\n");
  }
  const { lostLines, reason } = JSON.parse(lines.pop() ?? "");
  assert.equal(reason, "the reader is slow");
  assert.equal(lostLines + lines.length, 20_000);
});

test("lines of a file are appended to what is there", async (context) => {
  const folder = await mkdtemp(join(tmpdir(), "parley-log-"));
  context.after(() => rm(folder, { recursive: true }));
  const path = join(folder, "log");
  for (const word of ["one", "two"]) {
    const file = openSync(path, "a");
    const child = speaker(file);
    closeSync(file);
    await order(child, `${word} 1`);
    assert.equal(await exitCode(child, 0), 7);
  }
  const words = readFileSync(path, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line).msg);
  assert.deepEqual(words, ["one", "two"]);
});
