import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { test } from "node:test";
import { freePorts } from "../../bench/livestream/free-ports.js";

const MODULE = new URL("../../bench/livestream/free-ports.js", import.meta.url).href;
const SCRIPT = `const { freePorts } = await import(${JSON.stringify(MODULE)});
console.log(JSON.stringify(await freePorts(100)));`;

test("ports are free, and no process gets those of another, whether anybody listens there or not", async () => {
  const own = [...(await freePorts(60)), ...(await freePorts(40))];
  const others: number[] = JSON.parse(
    execFileSync(process.execPath, ["--input-type=module", "--eval", SCRIPT], { encoding: "utf8" }),
  );
  assert.equal(new Set([...own, ...others]).size, 200);
  const server = createServer().listen(own[0], "127.0.0.1");
  await once(server, "listening");
  server.close();
});

test("a port in use is skipped", async (context) => {
  const [port = 0] = await freePorts(1);
  const server = createServer().listen(port, "127.0.0.1");
  await once(server, "listening");
  context.after(() => server.close());
  // More than a process has: it has been through all of them.
  const later = [...(await freePorts(100)), ...(await freePorts(100))];
  assert.ok(!later.includes(port));
});
