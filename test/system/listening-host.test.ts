import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const MAIN = fileURLToPath(new URL("../../main.js", import.meta.url));

test("HOST=:: listens on IPv6 and on IPv4", async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), "parley-host-"));
  t.after(() => rm(dataDir, { recursive: true }));
  const child = spawn(process.execPath, [MAIN], {
    env: { PATH: process.env["PATH"], HOST: "::", PORT: "0", DATA_DIR: dataDir },
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.after(async () => {
    const ended = once(child, "close");
    child.kill("SIGTERM");
    await ended;
  });
  let port: string | undefined;
  for await (const line of createInterface({ input: child.stdout })) {
    port = /listens on http:\/\/\[::1\]:(\d+)$/.exec(line)?.[1];
    if (port !== undefined) break;
  }
  for (const host of ["127.0.0.1", "[::1]"]) {
    const answer = await fetch(`http://${host}:${port}/api/health`);
    assert.equal(answer.status, 200, host);
  }
});
