import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { SERVER_FLAGS } from "../../bench/stand/stand.js";

const SOURCE_MAPS = "--enable-source-maps";

/** The flags before `dist/main.js`. */
function flagsIn(file: string): readonly string[] {
  const text = readFileSync(new URL(`../../../${file}`, import.meta.url), "utf8");
  // The container's flags are JSON strings on two lines; the other files have them on one line.
  const command = /(?:--[a-z0-9=-]+[\s",\\]+)+(?=dist\/main\.js)/.exec(text)?.[0] ?? "";
  return command.match(/--[a-z0-9=-]+/g) ?? [];
}

test("npm start, the container and the systemd unit start Node with the flags that the benchmarks measure", () => {
  const flags = [SOURCE_MAPS, ...SERVER_FLAGS];
  assert.ok(SERVER_FLAGS.length > 0);
  for (const file of ["package.json", "deploy/Dockerfile", "deploy/parley.service"]) {
    assert.deepEqual(flagsIn(file), flags, file);
  }
});
