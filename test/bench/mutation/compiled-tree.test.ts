import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { CompiledTree } from "../../../bench/mutation/compiled-tree.js";

const BUILD = fileURLToPath(new URL("../../../", import.meta.url));
const PLACES = ["main.js", "parley.js", "config.js", "engine", "storage", "api", "test"];
const tree = new CompiledTree(BUILD, PLACES);

test("a test that starts the whole server is one of every module of it, threads included", () => {
  for (const module of [
    "engine/calls/opening/session-assembly.js",
    "engine/audio/audio-worker.js",
    "storage/sqlite/database-thread.js",
  ]) {
    const distances = tree.distancesTo(module);
    assert.ok(distances.has("test/system/conversation.test.js"), module);
    assert.ok(distances.has("test/system/restarts.test.js"), module);
  }
});

test("a module is nearer to its own test than to one that starts the server", () => {
  const distances = tree.distancesTo("engine/calls/opening/call-slots.js");
  const own = distances.get("test/engine/calls/opening/call-slots.test.js");
  const far = distances.get("test/system/conversation.test.js");
  assert.ok(own === 1 && far !== undefined && far > own);
  assert.equal(distances.has("test/engine/audio/mulaw.test.js"), false);
});
