import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { after, before, test } from "node:test";
import * as v from "valibot";
import { packageRoot } from "../../api/commands/livestream-local/package-root.js";
import { freePorts } from "../../bench/livestream/free-ports.js";
import { eventually } from "../system/eventually.js";
import { buildImage, type Image } from "./image-folder.js";

const ROOT = packageRoot();
const NPM = { HOME: process.env["HOME"] ?? "", PATH: process.env["PATH"] ?? "" };
const dockerfile = readFileSync(join(ROOT, "deploy/Dockerfile"), "utf8");
const Lock = v.object({
  packages: v.record(v.string(), v.object({ dev: v.optional(v.boolean(), false) })),
});
const Package = v.object({ version: v.string(), scripts: v.object({ start: v.string() }) });

/** With the front end's other binaries and SQLite's sources it would be 230. */
const SIZE_MAX_MIB = 100;

let folder: string;
let image: Image;

/**
 * The binary that npm ci compiled here for Node 20 takes the place of the file that SQLite's install script would
 * download.
 */
function packedSqlite(target: string): void {
  const sqlite = join(ROOT, "node_modules/better-sqlite3-node20");
  const { version } = v.parse(
    v.object({ version: v.string() }),
    JSON.parse(readFileSync(join(sqlite, "package.json"), "utf8")),
  );
  const { platform, arch, versions } = process;
  const name = `better-sqlite3-v${version}-node-v${versions.modules}-${platform}-${arch}.tar.gz`;
  mkdirSync(target);
  const binary = "build/Release/better_sqlite3.node";
  execFileSync("tar", ["-czf", join(target, name), "-C", sqlite, binary]);
}

before(() => {
  folder = mkdtempSync(join(tmpdir(), "parley-image-test-"));
  chmodSync(folder, 0o755);
  const isCompiled = Number.parseInt(process.versions.node, 10) < 22;
  if (isCompiled) packedSqlite(join(folder, "prebuilds"));
  image = buildImage(dockerfile, ROOT, folder, {
    ...NPM,
    npm_config_prefer_offline: "true",
    npm_config_loglevel: "error",
    npm_config_better_sqlite3_local_prebuilds: join(folder, "prebuilds"),
    // Pretends that this machine has no compiler, since compiling takes a minute.
    CXX: join(folder, "no-compiler"),
  });
});
after(() => rmSync(folder, { recursive: true }));

function files(...conditions: readonly string[]): readonly string[] {
  const found = execFileSync("find", [image.workFolder, ...conditions], { encoding: "utf8" });
  return found.split("\n").filter((path) => path !== "");
}

test("the image contains what the server needs, and nothing that only tests, builds or other machines need", () => {
  assert.deepEqual(readdirSync(image.workFolder).sort(), [
    "deploy",
    "dist",
    "licenses",
    "node_modules",
    "package.json",
  ]);
  const { packages } = v.parse(
    Lock,
    JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8")),
  );
  const ours = Object.entries(packages).filter(([path]) => path !== "");
  const forDevelopment = ours.filter(([, { dev }]) => dev).map(([path]) => path);
  assert.ok(forDevelopment.length > 50);
  const left = forDevelopment.filter((path) => existsSync(join(image.workFolder, path)));
  assert.deepEqual(left, []);
  const { platform, arch, versions } = process;
  const binaries = files("-name", "*.node").map((path) => basename(path));
  const frontEnd = `uws_${platform}_${arch}_${versions.modules}.node`;
  // npm itself installs only this platform's binary of piscina.
  const priorities = `nice.${platform}-${arch}-gnu.node`;
  assert.deepEqual(binaries.toSorted(), ["better_sqlite3.node", priorities, frontEnd]);
  const dist = readdirSync(join(image.workFolder, "dist"));
  assert.deepEqual(
    ["bench", "site", "test"].filter((name) => dist.includes(name)),
    [],
  );
  const told = execFileSync("du", ["-sm", image.workFolder], { encoding: "utf8" });
  assert.ok(Number.parseInt(told, 10) <= SIZE_MAX_MIB, told);
});

test("the image's user can write only to the data folder", () => {
  const [uid = ""] = image.user.split(":");
  assert.match(image.user, /^[1-9]\d*:[1-9]\d*$/);
  assert.deepEqual(files("!", "-type", "l", "-perm", "/022"), []);
  assert.deepEqual(files("!", "-user", "0"), []);
  const data = join(image.folder, "data");
  const owned = execFileSync("stat", ["-c", "%u %a", data], { encoding: "utf8" });
  assert.equal(owned, `${uid} 700\n`);
});

test("the image starts the same program as npm start, and is healthy on its configured port", async (context) => {
  const { scripts } = v.parse(
    Package,
    JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")),
  );
  assert.equal(image.command.join(" "), scripts.start);
  const [port = 0, otherPort = 0] = await freePorts(2);
  const [uid = "", gid = ""] = image.user.split(":");
  const user = [`--reuid=${uid}`, `--regid=${gid}`, "--clear-groups", "--no-new-privs"];
  const given = {
    PATH: NPM.PATH,
    ...image.environment,
    DATA_DIR: join(image.folder, image.environment["DATA_DIR"] ?? ""),
    HOST: "127.0.0.1",
    PORT: String(port),
    JWT_SECRET: "j".repeat(32),
    ENCRYPTION_KEY: "5a".repeat(32),
  };
  const options = ["--bounding-set=-all", "--inh-caps=-all"];
  const child = spawn("setpriv", [...user, ...options, ...image.command], {
    cwd: image.workFolder,
    env: given,
    stdio: ["ignore", "inherit", "inherit"],
  });
  context.after(() => child.kill("SIGKILL"));
  const [file = "", ...words] = image.healthcheck;
  const health = (env: Readonly<Record<string, string>>) => spawnSync(file, words, { env }).status;
  await eventually("the image to be healthy", () => health(given) === 0 || undefined);
  assert.equal(health({ ...given, PORT: String(otherPort) }), 1);
  const ready = await fetch(`http://127.0.0.1:${port}/api/ready`);
  assert.equal(ready.status, 200);
  assert.equal((await fetch(`http://127.0.0.1:${port}/api/docs`)).status, 200);
  assert.match(
    readFileSync(`/proc/${child.pid}/status`, "utf8"),
    new RegExp(`^Uid:\t${uid}\t`, "m"),
  );
  const exited = once(child, "exit");
  child.kill("SIGTERM");
  assert.deepEqual(await exited, [0, null]);
});

test("the image uses the newest Node for which uWebSockets.js has a binary", () => {
  const versionByAbi: Readonly<Record<string, string>> = {
    108: "18",
    115: "20",
    120: "21",
    127: "22",
    137: "24",
  };
  const names = readdirSync(join(ROOT, "node_modules/uWebSockets.js/dist/bin"));
  const abis = names.flatMap((name) => /^uws_linux_x64_(\d+)\.node$/.exec(name)?.[1] ?? []);
  const newest = Math.max(...abis.map((abi) => Number(versionByAbi[abi])));
  const images = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, name]) => name);
  assert.deepEqual(images, [`node:${newest}-bookworm`, `node:${newest}-bookworm-slim`]);
});
