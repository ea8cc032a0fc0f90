import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { ExecutedRanges } from "../../../bench/mutation/executed-ranges.js";
import { runTestFile } from "../../../bench/mutation/test-process.js";

const MODULE = "export const one = () => 1;\nexport const two = () => 2;\n";
const TEST = `import { test } from "node:test";
import { one } from "./module.js";
test("one", () => { if (one() !== 1) throw new Error("not one"); });
`;

test("a run tells which places it executed, and whether a test failed", async (context) => {
  const folder = mkdtempSync(join(tmpdir(), "parley-ranges-"));
  context.after(() => rmSync(folder, { recursive: true }));
  const coverage = join(folder, "coverage");
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  writeFileSync(join(folder, "module.js"), MODULE);
  writeFileSync(join(folder, "a.test.js"), TEST);
  assert.equal(await runTestFile(folder, "a.test.js", 30_000, coverage), "passed");
  const ranges = new ExecutedRanges(coverage, folder);
  assert.equal(ranges.has("module.js", MODULE.indexOf("1")), true);
  assert.equal(ranges.has("module.js", MODULE.indexOf("2")), false);
  assert.equal(ranges.has("other.js", 0), false);
  writeFileSync(join(folder, "module.js"), MODULE.replace("1", "3"));
  assert.equal(await runTestFile(folder, "a.test.js", 30_000), "failed");
  writeFileSync(join(folder, "module.js"), MODULE.replace("() => 1", "() => { for (;;); }"));
  assert.equal(await runTestFile(folder, "a.test.js", 500), "timedOut");
});
