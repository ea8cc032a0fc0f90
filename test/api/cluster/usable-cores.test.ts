import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { usableCores } from "../../../api/cluster/worker-process-count.js";

/** Cores of a machine with eight, by files as the kernel has them. */
function coresWith(context: TestContext, own: string, files: Readonly<Record<string, string>>) {
  const folder = mkdtempSync(join(tmpdir(), "parley-groups-"));
  context.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "own"), own);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return usableCores(folder, join(folder, "own"), 8);
}

test("a machine without bounds, or without control groups, has its cores", (context) => {
  assert.equal(coresWith(context, "0::/\n", { "cpu.max": "max 100000\n" }), 8);
  assert.equal(coresWith(context, "4:memory:/x\n", {}), 8);
  assert.equal(usableCores("/nowhere", "/nowhere", 3), 3);
});

test("a container has what it was given, whole cores and one at least", (context) => {
  const given = (text: string) => coresWith(context, "0::/\n", { "cpu.max": text });
  assert.equal(given("250000 100000\n"), 2);
  assert.equal(given("50000 100000\n"), 1);
  assert.equal(given("6400000 100000\n"), 8);
  assert.equal(given("broken\n"), 8);
});

test("the narrowest limit of a service and its slices counts", (context) => {
  const own = "0::/system.slice/parley.service\n";
  const service = { "system.slice/parley.service/cpu.max": "400000 100000\n" };
  assert.equal(coresWith(context, own, service), 4);
  const slice = { "system.slice/cpu.max": "300000 100000\n" };
  assert.equal(coresWith(context, own, { ...service, ...slice }), 3);
});
