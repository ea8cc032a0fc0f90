import { readFile, rm, writeFile } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { build, type Plugin } from "esbuild";

/** What is started by its path: processes, and threads of them. Paths are relative to the folder of the build. */
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
  "engine/sandbox/main.js",
  "engine/sandbox/sandbox-thread.js",
  "engine/sandbox/sound/speech-thread.js",
  "storage/sqlite/backup/backup-thread.js",
  "storage/sqlite/database-thread.js",
];

/** What carries calls has all of it in one file: with shared files a fresh server's first callers waited longer (decision 044). */
const CARRIES_CALLS = new Set(["main.js", "api/cluster/worker-runtime.js"]);

/** Packages that look for files beside their own, or have a binary. */
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

/** CommonJS packages ask for Node's own modules with `require`, which a module does not have. */
const REQUIRE =
  'import { createRequire as makeRequire } from "node:module";const require = makeRequire(import.meta.url);';

/**
 * Puts what the programs load into a few files in `folder` of the build; what several load that carry no calls is there once. A
 * bundle goes on finding threads and pages from where the compiler put its modules.
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

/** What a server says of its API is the same at every start: the bundle has the text, and not what writes it. */
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

/** All bundles lie in one folder of the build, so that one relative address leads from each of them to a compiled module. */
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

/** Whoever starts a program by its path gets the bundle. */
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

/** One folder has them all, and more than one is called main. */
function nameOf(program: string): string {
  return program.replace(/\.js$/, "").replaceAll("/", "-");
}
