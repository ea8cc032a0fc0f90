import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { freePorts } from "../../bench/livestream/free-ports.js";
import { Publisher } from "../../bench/livestream/publisher.js";
import { StackProcess } from "../../bench/livestream/stack-process.js";
import { eventually } from "../system/eventually.js";
import { listedStreams, untilListed } from "./stream-list.js";

const COMMAND = fileURLToPath(new URL("../../api/commands/livestream-local.js", import.meta.url));

/** Lists the processes that have the folder's name in their arguments or environment. */
function processesOf(folder: string): readonly string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) =>
      ["cmdline", "environ"].some((file) => {
        try {
          return readFileSync(`/proc/${pid}/${file}`, "utf8").includes(folder);
        } catch {
          return false;
        }
      }),
    );
}

async function runCommand(
  environment: Readonly<Record<string, string>>,
  args: readonly string[] = [],
): Promise<{ readonly status: unknown; readonly output: string; readonly errors: string }> {
  const child = spawn(process.execPath, [COMMAND, ...args], {
    env: { PATH: process.env["PATH"], ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => {
    output += chunk.toString("utf8");
  });
  let errors = "";
  child.stderr.on("data", (chunk: Buffer) => {
    errors += chunk.toString("utf8");
  });
  const [status] = await once(child, "close");
  return { status, output, errors };
}

for (const signal of ["SIGTERM", "SIGINT"] as const) {
  test(`at ${signal}, during a broadcast, it leaves no process and no file behind`, async (context) => {
    const stack = await StackProcess.start();
    const publisher = new Publisher({ url: stack.rtmpUrl("alpha") });
    context.after(() => publisher.kill());
    await untilListed(stack.frontUrl, "alpha");
    const folder = await stack.folder();
    assert.notDeepEqual(processesOf(folder), []);
    assert.equal(await stack.stop(signal), 0);
    await eventually(
      "the end of all processes",
      () => processesOf(folder).length === 0 || undefined,
    );
    assert.equal(existsSync(folder), false);
  });
}

test("HOST=:: listens on IPv4 and on IPv6, for viewers and for broadcasters", async (context) => {
  const stack = await StackProcess.start({ HOST: "::" });
  const publisher = new Publisher({ url: stack.rtmpUrl("alpha").replace("127.0.0.1", "[::1]") });
  context.after(async () => {
    await publisher.kill();
    await stack.stop();
  });
  await untilListed(stack.frontUrl, "alpha");
  const [stream] = await listedStreams(stack.frontUrl.replace("127.0.0.1", "[::1]"));
  assert.equal(stream?.clientIp, "::1");
});

test("files are readable for all, and only the transcoder's user may write them", async (context) => {
  const stack = await StackProcess.start();
  const publisher = new Publisher({ url: stack.rtmpUrl("alpha") });
  context.after(async () => {
    await publisher.kill();
    await stack.stop();
  });
  await untilListed(stack.frontUrl, "alpha");
  const hls = join(await stack.folder(), "hls");
  for (const path of ["", "alpha", "alpha/240p", "alpha/master.m3u8", "alpha/240p/index.m3u8"]) {
    const mode = statSync(join(hls, path)).mode & 0o777;
    assert.equal(mode & 0o444, 0o444, path);
    assert.equal(mode & 0o022, 0, path);
  }
});

test("with publishing keys, only broadcasters with the secret are listed", async (context) => {
  const stack = await StackProcess.start({ PUBLISH_KEYS: "alpha=open-sesame,beta=other-sesame" });
  const url = stack.rtmpUrl("alpha");
  const stranger = new Publisher({ url: `${stack.rtmpUrl("beta")}?secret=wrong` });
  const publisher = new Publisher({ url: `${url}?secret=open-sesame` });
  context.after(async () => {
    await Promise.all([stranger.kill(), publisher.kill()]);
    await stack.stop();
  });
  await untilListed(stack.frontUrl, "alpha");
  await stranger.ended();
  const keys = (await listedStreams(stack.frontUrl)).map(({ streamKey }) => streamKey);
  assert.deepEqual(keys, ["alpha"]);
  assert.ok(stack.lines.some((line) => line.includes("?secret=SECRET")));
  assert.doesNotMatch(stack.lines.join("\n"), /open-sesame/);
});

test("a second start reports the running one and how to stop it; if that is killed, its parts end, and the next start removes its files", async (context) => {
  // The folder is private, because concurrent tests would otherwise remove it at their start.
  const TMPDIR = mkdtempSync(join(tmpdir(), "parley-local-test-"));
  chmodSync(TMPDIR, 0o755);
  const stack = await StackProcess.start({ TMPDIR });
  const publisher = new Publisher({ url: stack.rtmpUrl("alpha") });
  context.after(() => publisher.kill());
  await untilListed(stack.frontUrl, "alpha");
  const folder = await stack.folder();
  const FRONT_PORT = new URL(stack.frontUrl).port;
  const second = await runCommand({ HOST: "127.0.0.1", FRONT_PORT, TMPDIR });
  assert.equal(second.status, 1);
  const { pid } = stack;
  assert.ok(
    second.errors.includes(`it is already running as process ${pid}: watch at ${stack.frontUrl}/`),
  );
  assert.ok(second.errors.includes(`kill ${pid}`));
  await stack.stop("SIGKILL");
  await eventually("the end of all parts", () => processesOf(folder).length === 0 || undefined);
  assert.equal(existsSync(folder), true, "the killed process could not remove its folder");
  const next = await StackProcess.start({ TMPDIR });
  context.after(async () => {
    await next.stop();
    rmSync(TMPDIR, { recursive: true });
  });
  assert.equal(existsSync(folder), false);
});

test("if a part cannot start, everything ends with that part's own error message", async () => {
  const [front = 0, rtmp = 0, stateApi = 0, status = 0, transcoder = 0] = await freePorts(5);
  const {
    status: exit,
    output,
    errors,
  } = await runCommand({
    HOST: "127.0.0.1",
    FRONT_PORT: String(front),
    RTMP_PORT: String(rtmp),
    LIVESTREAM_PORT: String(stateApi),
    INGEST_STATUS_PORT: String(status),
    TRANSCODER_PORT: String(transcoder),
    PUBLISH_KEYS: "alpha=short",
  });
  assert.equal(exit, 1);
  assert.match(output, /^\[state API\] .*publishing key 1: expected/m);
  assert.match(errors, /could not be kept running/);
  assert.equal(output.split("started, process").length - 1, 1);
});

test("a port in use is reported with the name of its setting", async (context) => {
  const [port = 0, ...others] = await freePorts(5);
  const taken = createServer().listen(port, "127.0.0.1");
  await once(taken, "listening");
  context.after(() => taken.close());
  const [front = 0, stateApi = 0, status = 0, transcoder = 0] = others;
  const { status: exit, errors } = await runCommand({
    HOST: "127.0.0.1",
    FRONT_PORT: String(front),
    RTMP_PORT: String(port),
    LIVESTREAM_PORT: String(stateApi),
    INGEST_STATUS_PORT: String(status),
    TRANSCODER_PORT: String(transcoder),
  });
  assert.equal(exit, 1);
  assert.match(errors, /^RTMP_PORT: expected a free port: .*EADDRINUSE/);
});

test("invalid settings and arguments are reported before anything starts", async () => {
  const wrong = await runCommand({ FRONT_PORT: "eighty" });
  assert.equal(wrong.status, 1);
  assert.match(wrong.errors, /FRONT_PORT: expected a whole number from 1 to 65535/);
  const argument = await runCommand({}, ["--port"]);
  assert.equal(argument.status, 2);
  assert.match(argument.errors, /settings come from the environment/);
});
