import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import * as v from "valibot";
import { packageRoot } from "../../api/commands/livestream-local/package-root.js";
import { freePorts } from "../../bench/livestream/free-ports.js";
import { debianProgram } from "../../bench/stand/debian-program.js";
import { Caller } from "../../engine/sandbox/caller.js";
import { startSandbox } from "../../engine/sandbox/sandbox.js";
import { ended } from "../system/events.js";
import { eventually } from "../system/eventually.js";
import { environmentOf, TestServer } from "../system/test-server.js";

const UNIT = join(packageRoot(), "deploy/parley.service");
const EXPOSURE_MAX = 3;
const unit = readFileSync(UNIT, "utf8");
const startScript = v.parse(
  v.object({ scripts: v.object({ start: v.string() }) }),
  JSON.parse(readFileSync(join(packageRoot(), "package.json"), "utf8")),
).scripts.start;

/** Debian's own Python, which has the package python3-seccomp. */
function underFilter(...program: readonly string[]): readonly string[] {
  const script = join(packageRoot(), "test/deploy-system/under-filter.py");
  return ["/usr/bin/python3", script, UNIT, ...program];
}

function outcome([file = "", ...args]: readonly string[]) {
  const { status, stderr } = spawnSync(file, args, { encoding: "utf8" });
  return { status, stderr };
}

test("systemd accepts the unit, and rates its exposure as low", (context) => {
  const analyze = debianProgram("systemd-analyze");
  const folder = mkdtempSync(join(tmpdir(), "parley-unit-check-"));
  context.after(() => rmSync(folder, { recursive: true }));
  const copy = join(folder, "parley.service");
  // Machines that have Node from nodejs.org have it at another path.
  writeFileSync(copy, unit.replace("/usr/bin/node", process.execPath));
  assert.deepEqual(outcome([analyze, "verify", "--man=no", copy]), { status: 0, stderr: "" });
  const security = spawnSync(analyze, ["security", "--offline=true", "--no-pager", UNIT], {
    encoding: "utf8",
  });
  const level = /Overall exposure level for parley\.service: ([\d.]+)/.exec(security.stdout)?.[1];
  assert.ok(Number(level) < EXPOSURE_MAX, security.stdout + security.stderr);
});

test("the unit starts the same program as npm start, and gives calls the time to end", () => {
  assert.ok(unit.includes(`\nExecStart=/usr/bin/${startScript}\n`));
  const drainSec = /^# DRAIN_TIMEOUT_SEC=(\d+)$/m.exec(
    readFileSync(join(packageRoot(), ".env.example"), "utf8"),
  )?.[1];
  const stopSec = /^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1];
  assert.ok(Number(stopSec) >= Number(drainSec) + 15, `${stopSec} s for ${drainSec} s`);
});

test("the filter blocks system calls that no server needs, and they succeed without it", () => {
  const refused = [
    ["/usr/sbin/chroot", "/", "/bin/true"],
    ["/usr/bin/nice", "-n", "-5", "/bin/false"],
    ["/usr/bin/python3", "-c", "import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW)"],
  ];
  for (const program of refused) {
    const under = outcome(underFilter(...program));
    assert.match(under.stderr, /Operation not permitted/, program.join(" "));
    assert.doesNotMatch(outcome(program).stderr, /Operation not permitted/, program.join(" "));
  }
});

test("a server that runs under the unit's filter takes a call", async (context) => {
  const sandbox = await startSandbox({ journal: true });
  const dataDir = await mkdtemp(join(tmpdir(), "parley-unit-test-"));
  context.after(async () => {
    await sandbox.close();
    await rm(dataDir, { recursive: true });
  });
  const before = await TestServer.start({ sandbox, dataDir });
  const customer = await before.customer();
  await before.agent(customer, { persona: { greeting: "Hello there." } });
  await before.close();

  const [port = 0] = await freePorts(1);
  const [file = "", ...args] = underFilter(
    process.execPath,
    ...startScript.split(" ").slice(1, -1),
    fileURLToPath(new URL("../../main.js", import.meta.url)),
  );
  const child = spawn(file, args, {
    env: { ...environmentOf(sandbox, dataDir), PORT: String(port), PATH: process.env["PATH"] },
    stdio: ["ignore", "inherit", "inherit"],
  });
  context.after(() => child.kill("SIGKILL"));
  const url = `http://127.0.0.1:${port}`;
  await eventually("the server", () =>
    fetch(`${url}/api/health`).then(
      ({ ok }) => ok || undefined,
      () => undefined,
    ),
  );
  const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
  assert.match(status, /^Seccomp:\t2$/m);
  const caller = await Caller.connect({ url, apiKey: customer.apiKey });
  await caller.until(ended);
  await caller.say("say thank you");
  await caller.until(ended);
  await caller.hangUp();
  assert.deepEqual(
    (await caller.playedReplies()).map(({ text }) => text),
    ["Hello there.", "thank you"],
  );
  const exited = once(child, "exit");
  child.kill("SIGTERM");
  assert.deepEqual(await exited, [0, null]);
});
