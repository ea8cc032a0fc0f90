import { readFile, rm, writeFile } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { build, type Plugin } from "esbuild";

/** Everything that is started by its path: processes, and their threads. Paths are relative to the build folder. */
export const PROGRAMS = [
  "main.js",
  "api/cluster/worker-runtime.js",
  "api/commands/admin.js",
  "api/commands/backup.js",
  "api/commands/call.js",
  "api/commands/catalog-age.js",
  "api/commands/livestream-local.js",
  "api/commands/livestream-token.js",
  "api/commands/livestream-transcoder.js",
  "api/livestream/main.js",
  "engine/audio/audio-worker.js",
  "engine/knowledge/document-reader-thread.js",
  "engine/knowledge/vector-thread.js",
  "engine/sandbox/main.js",
  "engine/sandbox/sandbox-thread.js",
  "engine/sandbox/sound/speech-thread.js",
  "storage/sqlite/backup/backup-thread.js",
  "storage/sqlite/database-thread.js",
];

/**
 * Each program that handles calls is one complete file: with shared files, a fresh server's first callers waited longer
 * (decision 044).
 */
const CARRIES_CALLS = new Set(["main.js", "api/cluster/worker-runtime.js"]);

/** Packages that look for files beside their own, or contain a binary. */
const LEFT_WHERE_THEY_ARE = [
  "better-sqlite3",
  "better-sqlite3-node20",
  "mpg123-decoder",
  "pg-native",
  "pino",
  "piscina",
  "uWebSockets.js",
];

const WRITES_DOCUMENT = join("api", "contract", "openapi", "openapi-json.js");

/** CommonJS packages load Node's own modules with `require`, which ES modules do not have. */
const REQUIRE =
  'import { createRequire as makeRequire } from "node:module";const require = makeRequire(import.meta.url);';

/**
 * Bundles the modules that the programs load into a few files in `folder` of the build. Programs that handle no calls
 * share their common modules. A bundle still finds threads and pages relative to the compiled modules.
 */
export async function bundlePrograms(
  dist: string,
  folder: string,
  programs: readonly string[],
): Promise<void> {
  const others = programs.filter((program) => !CARRIES_CALLS.has(program));
  await bundled(dist, folder, others, true);
  for (const program of programs) {
    if (CARRIES_CALLS.has(program)) await bundled(dist, folder, [program], false);
  }
}

async function bundled(
  dist: string,
  folder: string,
  programs: readonly string[],
  splitting: boolean,
): Promise<void> {
  await build({
    entryPoints: programs.map((program) => ({ in: join(dist, program), out: nameOf(program) })),
    outdir: join(dist, folder),
    bundle: true,
    splitting,
    format: "esm",
    platform: "node",
    target: "node20",
    minifyWhitespace: true,
    external: LEFT_WHERE_THEY_ARE,
    plugins: [writtenDocument(dist), compiledAddresses(dist)],
    sourcemap: true,
    sourcesContent: false,
    banner: { js: REQUIRE },
    logLevel: "warning",
  });
}

interface DocumentWriter {
  readonly openApiJson: () => Buffer;
}

/**
 * The server's OpenAPI document is the same at every start: the bundle contains its text instead of the code that
 * generates it.
 */
function writtenDocument(dist: string): Plugin {
  return {
    name: "written document",
    setup(builds) {
      builds.onLoad({ filter: /\/openapi-json\.js$/ }, async ({ path }) => {
        if (path !== join(dist, WRITES_DOCUMENT)) return undefined;
        const { openApiJson }: DocumentWriter = await import(pathToFileURL(path).href);
        const text = JSON.stringify(openApiJson().toString());
        const contents = `const written = Buffer.from(${text});\nexport const openApiJson = () => written;\n`;
        return { contents, loader: "js" };
      });
    },
  };
}

/**
 * All bundles are in one folder of the build, so the same relative address leads from each of them to a compiled
 * module.
 */
function compiledAddresses(dist: string): Plugin {
  return {
    name: "compiled addresses",
    setup(builds) {
      builds.onLoad({ filter: /\.js$/ }, async ({ path }) => {
        const place = relative(dist, path).split(sep).join("/");
        if (place.startsWith("../")) return undefined;
        const source = await readFile(path, "utf8");
        const address = `new URL("../${place}", import.meta.url).href`;
        return { contents: source.replaceAll("import.meta.url", address), loader: "js" };
      });
    },
  };
}

/**
 * Replaces each program by a module that loads its bundle, so that starting the program by its path starts the bundle.
 */
export async function replacePrograms(
  dist: string,
  folder: string,
  programs: readonly string[],
): Promise<void> {
  for (const program of programs) {
    const up = "../".repeat(program.split("/").length - 1) || "./";
    await writeFile(join(dist, program), `export * from "${up}${folder}/${nameOf(program)}.js";\n`);
    await rm(join(dist, `${program}.map`));
  }
}

/** One folder contains all bundles, and more than one program is called main. */
function nameOf(program: string): string {
  return program.replace(/\.js$/, "").replaceAll("/", "-");
}
