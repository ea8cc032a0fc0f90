import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const SCRIPT = fileURLToPath(import.meta.resolve("../../../api/cluster/worker-process.js"));

test("a worker whose primary is gone before it has begun ends by itself", async () => {
  const child = fork(SCRIPT, { serialization: "advanced" });
  await once(child, "spawn");
  child.disconnect();
  assert.deepEqual(await once(child, "exit"), [0, null]);
});
