import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, posix } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { dealtFiles } from "./dealt-files.js";
import { FileClaims } from "./file-claims.js";

const ROOT = fileURLToPath(new URL("./", import.meta.url));
const SHARED_PROCESS = new URL("./shared-process.js", import.meta.url).href;
const OTHER_TESTS = /import\("([^"]+\.test\.js)"\)/g;

const names = readdirSync(ROOT, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".test.js") && !name.startsWith("postgres-system/"))
  .sort();

/** The files whose tests the file runs besides its own. */
function testsRunBy(name: string): readonly string[] {
  const lines = readFileSync(join(ROOT, name), "utf8").matchAll(OTHER_TESTS);
  return Array.from(lines, ([, path = ""]) => posix.join(posix.dirname(name), path));
}

test("every file is in one process, and none has two that run the same tests", () => {
  const { apart, shared } = dealtFiles(names);
  const lists = [...apart, shared];
  assert.deepEqual(lists.flat().toSorted(), names);
  for (const list of lists) {
    const run = list.flatMap((name) => [name, ...testsRunBy(name)]);
    const twice = run.filter((name, place) => run.indexOf(name) !== place);
    assert.deepEqual(twice, []);
  }
  assert.ok(names.flatMap(testsRunBy).length > 10, "some run other files' tests");
});

test("a file whose tests another file of the process has run fails, instead of passing without any", async (context) => {
  const folder = await mkdtemp(join(tmpdir(), "parley-dealt-"));
  context.after(() => rm(folder, { recursive: true }));
  const files = ["first", "second"].map((name) => {
    return { name, url: pathToFileURL(join(folder, `${name}.mjs`)).href };
  });
  await writeFile(join(folder, "first.mjs"), 'await import("./second.mjs");\n');
  await writeFile(
    join(folder, "second.mjs"),
    'import { test } from "node:test";\ntest("one and only", () => {});\n',
  );
  const program = `import { runFiles } from ${JSON.stringify(SHARED_PROCESS)};
    await runFiles(${JSON.stringify(files)}, { timeoutMs: 60_000 });`;
  await writeFile(join(folder, "all.mjs"), program);
  const child = spawn(process.execPath, ["--test-reporter=tap", join(folder, "all.mjs")], {
    env: { PATH: process.env["PATH"] },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [said, [code]] = await Promise.all([text(child.stdout), once(child, "exit")]);
  assert.match(said, /^ok \d+ - first/m);
  assert.match(said, /^not ok \d+ - second/m);
  assert.match(said, /none of its tests has run/);
  assert.equal(code, 1);
});

test("each process with the same list takes the next file that no other has", async (context) => {
  const folder = await mkdtemp(join(tmpdir(), "parley-claims-"));
  context.after(() => rm(folder, { recursive: true }));
  const list = ["system/calls.test.js", "system-calls.test.js", "calls.test.js"];
  const [one, other] = [new FileClaims(folder), new FileClaims(folder)];
  assert.ok(one.take("calls.test.js"));
  assert.deepEqual(
    list.filter((name) => other.take(name)),
    list.slice(0, 2),
  );
  assert.deepEqual(
    list.filter((name) => one.take(name)),
    [],
  );
  assert.throws(() => new FileClaims(join(folder, "missing")).take("calls.test.js"), /ENOENT/);
});
