import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs, {
  closeSync,
  constants,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
} from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { LogLines } from "../../engine/log.js";
import { VirtualClock } from "../doubles/virtual-clock.js";

const KILOBYTE = 1_024;
/** The size of a page: a pipe that is full takes no more until one of them has been read. */
const PAGE_BYTES = 4_096;
const { O_NONBLOCK, O_RDONLY, O_RDWR, O_WRONLY } = constants;

function newFolder(context: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "parley-log-"));
  context.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** A log, and the end of its process, which a test may have come early. */
function newLog(context: TestContext, fd: number) {
  const clock = new VirtualClock();
  const known = new Set(process.rawListeners("exit"));
  const log = new LogLines(fd, (lines, reason) => `lost ${lines}: ${reason}\n`, clock);
  const end = process.rawListeners("exit").find((listener) => !known.has(listener));
  assert.ok(end !== undefined);
  const exit = () => void Reflect.apply(end, process, []);
  context.after(() => process.removeListener("exit", Object(end)));
  return { clock, log, exit };
}

/** A pipe whose reader reads when the test does. */
function newPipe(context: TestContext) {
  const path = join(newFolder(context), "pipe");
  assert.equal(spawnSync("mkfifo", [path]).status, 0);
  const both = openSync(path, O_RDWR | O_NONBLOCK);
  const reader = openSync(path, O_RDONLY | O_NONBLOCK);
  const fd = openSync(path, O_WRONLY | O_NONBLOCK);
  closeSync(both);
  let isRead = true;
  const hangUp = () => {
    if (isRead) closeSync(reader);
    isRead = false;
  };
  context.after(() => {
    hangUp();
    closeSync(fd);
  });
  const read = (bytesMax = 1_048_576) => {
    const bytes = Buffer.alloc(bytesMax);
    try {
      return bytes.toString("utf8", 0, readSync(reader, bytes));
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "EAGAIN") return "";
      throw error;
    }
  };
  return { path, fd, read, hangUp };
}

/** One line of this many bytes, including its end. */
const lineOf = (number: number, bytes = KILOBYTE) => `${String(number).padEnd(bytes - 1, ".")}\n`;
const linesOf = (count: number) => Array.from({ length: count }, (_none, index) => lineOf(index));

/** Everything read until this many bytes have arrived; the clock runs while the reader is slow. */
async function readAll(
  pipe: ReturnType<typeof newPipe>,
  clock: VirtualClock,
  bytes: number,
): Promise<string> {
  let text = "";
  while (text.length < bytes) {
    text += pipe.read();
    clock.advance(100);
    await new Promise(setImmediate);
  }
  return text;
}

/** Until the log waits for a reader that is slow. */
async function stuck(clock: VirtualClock): Promise<void> {
  while (clock.pendingTimerCount === 0) await new Promise(setImmediate);
}

/** Until the system has reported the result of all its writes. */
async function answered(): Promise<void> {
  while (process.getActiveResourcesInfo().includes("FSReqCallback")) {
    await new Promise(setImmediate);
  }
}

test("lines stand in a file as they came", async (context) => {
  const path = join(newFolder(context), "log");
  const fd = openSync(path, "a");
  context.after(() => closeSync(fd));
  const { log, clock } = newLog(context, fd);
  const lines = [...linesOf(9), "ü€\n", lineOf(10, 3 * PAGE_BYTES), "last\n"];
  for (const line of lines) log.write(line);
  const text = lines.join("");
  while (Buffer.byteLength(readFileSync(path)) < Buffer.byteLength(text)) {
    await new Promise(setImmediate);
  }
  assert.equal(readFileSync(path, "utf8"), text);
  assert.equal(clock.pendingTimerCount, 0);
});

test("a slow reader gets a megabyte that waited for it, then how many lines were lost, each time", async (context) => {
  const pipe = newPipe(context);
  const { log, clock } = newLog(context, pipe.fd);
  for (let round = 1; round <= 2; round += 1) {
    const full = lineOf(0, 65_536);
    log.write(full);
    log.write(lineOf(1));
    // The pipe has the first, and the second is being written.
    await stuck(clock);
    const waiting = linesOf(1_024);
    for (const line of waiting) log.write(line);
    for (const line of linesOf(2 + round)) log.write(line);
    const loss = `lost ${2 + round}: the reader is slow\n`;
    const text = [full, lineOf(1), ...waiting, loss].join("");
    assert.equal(await readAll(pipe, clock, text.length), text);
    assert.equal(clock.pendingTimerCount, 0);
    assert.equal(pipe.read(), "", "what was lost is told once");
  }
});

test("a slow reader is retried after a tenth of a second, with whole lines", async (context) => {
  const pipe = newPipe(context);
  const { log, clock } = newLog(context, pipe.fd);
  log.write(lineOf(0, 65_536));
  log.write("first\n");
  await stuck(clock);
  for (const line of linesOf(10)) log.write(line);
  // Room for one page: a larger piece would be taken in part.
  pipe.read(PAGE_BYTES);
  clock.advance(99);
  assert.equal(clock.pendingTimerCount, 1);
  clock.advance(1);
  assert.equal(clock.pendingTimerCount, 0, "it is asked once");
  await stuck(clock);
  assert.ok(pipe.read().endsWith("\nfirst\n"), "the lines behind it go as one piece");
  pipe.hangUp();
});

test("lines without room on the disk are counted, and reported when there is room", async (context) => {
  const folder = newFolder(context);
  const fd = openSync("/dev/full", "w");
  const { log } = newLog(context, fd);
  // The first is requested alone, the others together.
  for (const line of ["one\n", "two\n", "three\n"]) log.write(line);
  await answered();
  closeSync(fd);
  const path = join(folder, "log");
  const opened = [openSync(path, "a")];
  // The number of the file that was closed is the next that is free, at the latest after those below it.
  while (opened.at(-1) !== fd) opened.push(openSync(path, "a"));
  context.after(() => {
    for (const each of opened) closeSync(each);
  });
  log.write("four\n");
  const text = "four\nlost 3: ENOSPC: no space left on device, write\n";
  while (readFileSync(path, "utf8").length < text.length) await new Promise(setImmediate);
  assert.equal(readFileSync(path, "utf8"), text);
});

test("nothing is written any more when the reader is gone", async (context) => {
  const pipe = newPipe(context);
  const { log, exit } = newLog(context, pipe.fd);
  pipe.hangUp();
  for (const line of linesOf(3)) log.write(line);
  await answered();
  const reader = openSync(pipe.path, O_RDONLY | O_NONBLOCK);
  context.after(() => closeSync(reader));
  log.write("later\n");
  exit();
  await answered();
  assert.throws(() => readSync(reader, Buffer.alloc(9)), { code: "EAGAIN" });
});

test("the end of the process writes what waits, and what was lost last", async (context) => {
  const pipe = newPipe(context);
  const { log, clock, exit } = newLog(context, pipe.fd);
  log.write(lineOf(0, 65_536));
  log.write("first\n");
  await stuck(clock);
  for (const line of linesOf(1_030)) log.write(line);
  pipe.read();
  // Four to a page, in all pages but one: who reads no more is waited for a second, and no longer.
  const beganAtMs = performance.now();
  exit();
  assert.ok(performance.now() - beganAtMs >= 999);
  assert.equal(pipe.read(), ["first\n", ...linesOf(60)].join(""));
  const small = newPipe(context);
  const other = newLog(context, small.fd);
  other.log.write(lineOf(0, 65_536));
  other.log.write("first\n");
  await stuck(other.clock);
  other.log.write("second\n");
  other.log.write(lineOf(2, 1_048_576));
  small.read();
  const beganAgainMs = performance.now();
  other.exit();
  assert.equal(small.read(), "first\nsecond\nlost 1: the reader is slow\n");
  assert.ok(performance.now() - beganAgainMs < 999, "nobody is waited for who reads");
});

test("what is being written as the process ends is written once", async (context) => {
  const path = join(newFolder(context), "log");
  const fd = openSync(path, "a");
  context.after(() => closeSync(fd));
  const { log, exit } = newLog(context, fd);
  log.write("first\n");
  log.write("second\n");
  exit();
  await answered();
  assert.deepEqual(readFileSync(path, "utf8").split("\n").sort(), ["", "first", "second"]);
});

test("at the end of the process the rest of a partly read line is written", async (context) => {
  const pipe = newPipe(context);
  const { log, clock, exit } = newLog(context, pipe.fd);
  const line = lineOf(1, 3 * PAGE_BYTES);
  log.write(lineOf(0, 65_536));
  log.write(line);
  await stuck(clock);
  const first = pipe.read(PAGE_BYTES);
  clock.advance(100);
  await stuck(clock);
  const before = first + pipe.read();
  exit();
  assert.equal(before + pipe.read(), lineOf(0, 65_536) + line);
});

test("the end of the process does not wait for a reader that has gone", async (context) => {
  const pipe = newPipe(context);
  const { log, clock, exit } = newLog(context, pipe.fd);
  log.write(lineOf(0, 65_536));
  log.write("first\n");
  await stuck(clock);
  pipe.hangUp();
  const waits = context.mock.method(Atomics, "wait", () => "timed-out");
  exit();
  newLog(context, pipe.fd).exit();
  assert.equal(waits.mock.callCount(), 0);
});

test("a closed reader is tried once, whatever else is pending", async (context) => {
  type Told = (error: Error | null) => void;
  const gone = Object.assign(new Error("broken pipe"), { code: "EPIPE" });
  const write = context.mock.method(fs, "write", (_fd: number, _bytes: Buffer, told: Told) => {
    setImmediate(told, gone);
  });
  syncBuiltinESMExports();
  const { log, exit } = newLog(context, 1);
  for (const line of linesOf(3)) log.write(line);
  for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
  exit();
  assert.equal(write.mock.callCount(), 1);
  context.mock.restoreAll();
  syncBuiltinESMExports();
});

test("what the system has no time for is written a tenth of a second later", async (context) => {
  type Told = (error: Error | null, count: number) => void;
  const codes = ["EBUSY", "EAGAIN"];
  const written: string[] = [];
  context.mock.method(fs, "write", (_fd: number, bytes: Buffer, told: Told) => {
    const code = codes.shift();
    if (code === undefined) written.push(bytes.toString());
    const error = code === undefined ? null : Object.assign(new Error(code), { code });
    setImmediate(told, error, bytes.length);
  });
  syncBuiltinESMExports();
  const { log, clock } = newLog(context, 1);
  log.write("first\n");
  for (let tries = 0; tries < 2; tries += 1) {
    await stuck(clock);
    assert.deepEqual(written, []);
    clock.advance(100);
  }
  while (written.length === 0) await new Promise(setImmediate);
  assert.deepEqual(written, ["first\n"]);
  context.mock.restoreAll();
  syncBuiltinESMExports();
});
