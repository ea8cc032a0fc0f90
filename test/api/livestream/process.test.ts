import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { LoopbackClient } from "../http/loopback-client.js";
import { EventListener } from "./event-listener.js";

const MAIN = fileURLToPath(new URL("../../../api/livestream/main.js", import.meta.url));

function launched(t: TestContext, environment: Readonly<Record<string, string>>): ChildProcess {
  const child = spawn(process.execPath, [MAIN], {
    env: { PATH: process.env["PATH"], HOST: "127.0.0.1", LIVESTREAM_PORT: "0", ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  t.after(() => child.kill("SIGKILL"));
  return child;
}

async function portOf({ stdout }: ChildProcess): Promise<number> {
  assert.ok(stdout);
  for await (const line of createInterface({ input: stdout })) {
    const port = /listed on http:\/\/127\.0\.0\.1:(\d+)\/streams$/.exec(line)?.[1];
    if (port !== undefined) return Number(port);
  }
  throw new Error("it ended before it listened");
}

test("the process says where it listens, serves, and ends well on SIGTERM", async (t) => {
  const child = launched(t, {});
  const port = await portOf(child);
  const client = new LoopbackClient(port);
  const listener = await EventListener.open(port);
  assert.equal((await listener.next()).name, "snapshot");
  assert.equal((await client.get("/health")).status, 200);
  const exited = once(child, "exit");
  child.kill("SIGTERM");
  assert.equal((await listener.next()).name, "closing");
  assert.deepEqual(await exited, [0, null]);
  client.close();
});

test("keys for publishing come from a file", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "parley-keys-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, "keys");
  await writeFile(file, "# of the studio\nalice=correct-horse\n");
  const client = new LoopbackClient(await portOf(launched(t, { PUBLISH_KEYS_FILE: file })));
  const ask = (token: string) =>
    client.post("/webhook/on-auth", { action: "publish", path: "live/alice", token });
  assert.equal((await ask("correct-horse")).status, 200);
  assert.equal((await ask("wrong-horse")).status, 401);
  await writeFile(file, "");
  const empty = new LoopbackClient(await portOf(launched(t, { PUBLISH_KEYS_FILE: file })));
  const refused = await empty.post("/webhook/on-auth", { action: "publish", path: "live/alice" });
  assert.equal(refused.status, 401);
  client.close();
  empty.close();
});

test("wrong settings end it with what is wrong, and no secret in it", async (t) => {
  for (const [environment, complaint] of [
    [{ MAX_STREAMS: "none" }, /MAX_STREAMS: expected a whole number/],
    [{ PUBLISH_KEYS: "alice=hunter" }, /publishing key 1: expected stream=secret/],
  ] as const) {
    const child = launched(t, environment);
    assert.ok(child.stderr);
    const [errors, [code]] = await Promise.all([text(child.stderr), once(child, "exit")]);
    assert.match(errors, complaint);
    assert.doesNotMatch(errors, /hunter|^\s+at /m);
    assert.equal(code, 1);
  }
});
