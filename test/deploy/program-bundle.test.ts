import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, posix } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { packageRoot } from "../../api/commands/livestream-local/package-root.js";
import { bundlePrograms, PROGRAMS, replacePrograms } from "../../deploy/server/program-bundle.js";

const BUILD = fileURLToPath(new URL("../../", import.meta.url));

test("every program that is started by its path is bundled", () => {
  const { scripts } = JSON.parse(readFileSync(join(packageRoot(), "package.json"), "utf8"));
  const commands = Object.values<string>(scripts)
    .flatMap((script) => [...script.matchAll(/dist\/((?:api|engine|main)[\w./-]*\.js)/g)])
    .map(([, path = ""]) => path);
  // A worker process watches its parent before it loads anything else; the modules that it loads then are bundled.
  const started = [...commands, ...startedByOthers()].map((path) =>
    path === "api/cluster/worker-process.js" ? "api/cluster/worker-runtime.js" : path,
  );
  assert.deepEqual([...new Set(started)].toSorted(), PROGRAMS.toSorted());
});

/** Threads and processes that a module starts by a path relative to its own. */
function startedByOthers(): readonly string[] {
  return ["api", "engine", "storage"].flatMap((place) =>
    readdirSync(join(BUILD, place), { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".js"))
      .flatMap((path) => {
        const source = readFileSync(join(BUILD, place, path), "utf8");
        return [...source.matchAll(/new URL\("([\w./-]+\.js)", import\.meta\.url\)/g)].map(
          ([, target = ""]) => posix.join(place, posix.dirname(path), target),
        );
      }),
  );
}

test("a bundle finds its threads and pages in the compiler's output folders", async (t) => {
  const dist = await mkdtemp(join(tmpdir(), "parley-bundle-"));
  t.after(() => rm(dist, { recursive: true }));
  const write = (path: string, text: string) => {
    mkdirSync(join(dist, posix.dirname(path)), { recursive: true });
    writeFileSync(join(dist, path), text);
  };
  write("package.json", '{ "type": "module" }');
  write("main.js", 'import { said } from "./engine/pool.js"; console.log(await said());');
  write("main.js.map", "{}");
  write("pages/start.html", "a page");
  write(
    "engine/pool.js",
    `import { readFileSync } from "node:fs";
     import { once } from "node:events";
     import { Worker } from "node:worker_threads";
     export async function said() {
       const page = readFileSync(new URL("../pages/start.html", import.meta.url), "utf8");
       const worker = new Worker(new URL("./threads/one.js", import.meta.url));
       return [page, ...(await once(worker, "message"))].join();
     }`,
  );
  write(
    "engine/threads/one.js",
    'import { parentPort } from "node:worker_threads"; import { word } from "../word.cjs"; parentPort.postMessage(word);',
  );
  write("engine/threads/one.js.map", "{}");
  write("engine/word.cjs", 'exports.word = typeof require("node:fs").readFileSync;');
  const programs = ["main.js", "engine/threads/one.js"];

  await bundlePrograms(dist, "bundle", programs);
  await replacePrograms(dist, "bundle", programs);
  for (const source of ["engine/pool.js", "engine/word.cjs"]) await rm(join(dist, source));

  const { stdout } = await promisify(execFile)(process.execPath, [join(dist, "main.js")]);
  assert.equal(stdout, "a page,function\n");
});

test("a bundle contains the text of the OpenAPI document instead of the code that generates it", async (t) => {
  const dist = await mkdtemp(join(tmpdir(), "parley-bundle-"));
  t.after(() => rm(dist, { recursive: true }));
  const openapi = join(dist, "api/contract/openapi");
  mkdirSync(openapi, { recursive: true });
  writeFileSync(join(dist, "package.json"), '{ "type": "module" }');
  writeFileSync(
    join(openapi, "openapi-json.js"),
    'export function openApiJson() { return Buffer.from(JSON.stringify({ said: "two" })); }',
  );
  writeFileSync(
    join(dist, "main.js"),
    'import { openApiJson } from "./api/contract/openapi/openapi-json.js"; console.log(openApiJson().toString());',
  );
  await bundlePrograms(dist, "bundle", ["main.js"]);
  await rm(join(dist, "api"), { recursive: true });
  const { stdout } = await promisify(execFile)(process.execPath, [join(dist, "bundle/main.js")]);
  assert.equal(stdout, '{"said":"two"}\n');
});
