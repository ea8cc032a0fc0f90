import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import * as v from "valibot";
import { ROOT } from "../../docs/pages.js";

const Client = v.looseObject({
  AgentCall: v.function(),
  BrowserCall: v.function(),
  OwnSound: v.function(),
  soundDevices: v.function(),
});
const Package = v.object({ exports: v.record(v.string(), v.record(v.string(), v.string())) });
const Packed = v.tuple([v.object({ files: v.array(v.object({ path: v.string() })) })]);
/** Files that npm adds to every package. */
const ALWAYS_PACKED = ["LICENSE", "README.md", "package.json"];

test("the client is imported by the package's name, in Node too", async () => {
  v.parse(Client, await import(import.meta.resolve("parley/client")));
});

test("npm packs every file that the package's exports name, and nothing but the client", async () => {
  const { exports } = v.parse(
    Package,
    JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")),
  );
  const { stdout } = await promisify(execFile)(
    "npm",
    ["pack", "--dry-run", "--json", "--ignore-scripts"],
    { cwd: ROOT },
  );
  const [{ files }] = v.parse(Packed, JSON.parse(stdout));
  const packed = new Set(files.map(({ path }) => path));
  for (const path of Object.values(exports).flatMap((each) => Object.values(each))) {
    assert.ok(packed.has(path.replace("./", "")), path);
  }
  const others = [...packed].filter((path) => !path.startsWith("dist/client/"));
  assert.deepEqual(others.sort(), ALWAYS_PACKED);
});
