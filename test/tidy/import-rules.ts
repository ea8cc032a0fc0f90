import { builtinModules } from "node:module";
import { type Import, importsOf } from "./imports.js";
import {
  codeOnly,
  type Fault,
  type FileRule,
  faultsAt,
  isIn,
  type SourceFile,
  type TreeRule,
} from "./source-file.js";

/** main -> parley -> api -> engine -> storage. What a part may import besides itself; commands build what parley.ts builds. */
const DIRECTIONS: readonly (readonly [part: string, mayImport: readonly string[]])[] = [
  ["main.ts", ["parley.ts", "api/", "engine/", "config.ts"]],
  ["parley.ts", ["api/", "engine/", "storage/", "config.ts"]],
  [
    "config.ts",
    [
      "engine/security/origins.ts",
      "engine/settings.ts",
      "engine/bucket/bucket-settings.ts",
      "engine/telephony/telephony-settings.ts",
      "engine/vendors/vendor-environment.ts",
      "api/http/request/address-blocks.ts",
    ],
  ],
  ["api/commands/", ["api/", "engine/", "storage/", "config.ts"]],
  ["api/livestream/main.ts", ["api/", "engine/", "storage/", "config.ts"]],
  ["api/console/", ["api/contract/", "api/client/"]],
  ["api/", ["engine/", "storage/"]],
  ["deploy/livestream/front/site/", []],
  ["deploy/server/", []],
  ["engine/", ["storage/"]],
  ["storage/", []],
  [
    "bench/",
    [
      "api/",
      "engine/",
      "storage/",
      "config.ts",
      "main.ts",
      "parley.ts",
      "test/doubles/",
      "test/late-optimization.ts",
      "test/sequential-tests.ts",
      "test/shared-process.ts",
      "test/storage/sqlite/rigs/",
      "test/api/http/loopback-client.ts",
      "test/simulation/seeded-random.ts",
      "test/api/contract/contract-check.ts",
      "test/api/contract/request-arbitrary.ts",
      "test/browser-system/client-page.ts",
      "test/browser-system/console-visit.ts",
      "test/browser-system/page-site.ts",
      "test/browser-system/seeded-calls.ts",
      "test/browser-system/spoken-words.ts",
      "test/system/phone-vendor-documents.ts",
      "test/system/phone-vendor-streams.ts",
      "test/system/test-server.ts",
    ],
  ],
  [
    "test/",
    [
      "api/",
      "deploy/livestream/front/site/",
      "deploy/server/",
      "engine/",
      "storage/",
      "bench/",
      "config.ts",
      "main.ts",
      "parley.ts",
    ],
  ],
];

export const importDirection: FileRule = (file) => {
  const [part, mayImport] = DIRECTIONS.find(([place]) => isIn(file.path, [place])) ?? [];
  if (part === undefined || mayImport === undefined) {
    return [{ path: file.path, line: 1, message: "stands outside of the tree of design.md" }];
  }
  return importsOf(file)
    .filter(({ isPackage, target }) => !isPackage && !isIn(target, [part, ...mayImport]))
    .map((wrong) => fault(file, wrong, `${part} may not import ${wrong.target}`));
};

/** The vendors' own clients judge the simulators; the product never leans on them. */
const SDK_PLACES = ["test/sdks/"];

/** The only part that has a page of React. */
const CONSOLE = ["api/console/"];

/** A package is imported only by the places that own it. */
const OWNERS: Readonly<Record<string, readonly string[]>> = {
  "uWebSockets.js": ["api/http/backend/"],
  "ipaddr.js": ["api/http/request/"],
  undici: ["engine/vendors/", "engine/bucket/", "test/engine/vendors/"],
  aws4fetch: ["engine/bucket/"],
  kysely: ["storage/", "test/storage/"],
  "better-sqlite3": ["storage/sqlite/", "test/storage/"],
  pg: ["storage/postgres/", "test/storage/postgres/", "test/postgres-system/", "bench/"],
  jose: ["engine/security/", "engine/telephony/vonage/", "test/engine/security/"],
  "node-forge": ["engine/sandbox/"],
  ws: ["api/http/backend/", "engine/sandbox/", "engine/vendors/transport/", "bench/", "test/"],
  piscina: ["engine/audio/"],
  "@valibot/to-json-schema": ["api/contract/", "test/api/contract/"],
  "prom-client": ["engine/metrics/"],
  pino: ["engine/log.ts"],
  unpdf: ["engine/knowledge/"],
  "@modelcontextprotocol/client": ["engine/tools/"],
  "@modelcontextprotocol/server": ["test/engine/tools/", "bench/abilities/"],
  htmlparser2: ["engine/knowledge/"],
  "mpg123-decoder": ["engine/mp3-decoder.ts", "test/"],
  "wasm-media-encoders": ["engine/sandbox/", "engine/audio/", "api/commands/", "bench/", "test/"],
  "fast-check": ["test/", "bench/"],
  "playwright-core": ["bench/livestream/"],
  "hls.js": ["deploy/livestream/front/site/"],
  react: CONSOLE,
  "react-dom": CONSOLE,
  "@tanstack/react-query": CONSOLE,
  "@tanstack/react-virtual": CONSOLE,
  wouter: CONSOLE,
  uplot: CONSOLE,
  "wavesurfer.js": CONSOLE,
  "openapi-fetch": CONSOLE,
  "lucide-react": CONSOLE,
  fastify: ["bench/"],
  "@ai-sdk/deepgram": SDK_PLACES,
  "@ai-sdk/elevenlabs": SDK_PLACES,
  "@ai-sdk/groq": SDK_PLACES,
  "@ai-sdk/openai": SDK_PLACES,
  "@ai-sdk/openai-compatible": SDK_PLACES,
  "@cartesia/cartesia-js": SDK_PLACES,
  "@deepgram/sdk": SDK_PLACES,
  "@elevenlabs/elevenlabs-js": SDK_PLACES,
  ai: SDK_PLACES,
  assemblyai: SDK_PLACES,
  "deepgram-sdk-4": SDK_PLACES,
  "groq-sdk": SDK_PLACES,
  "msedge-tts": SDK_PLACES,
  ollama: SDK_PLACES,
  openai: SDK_PLACES,
};

export const ownedPackages: FileRule = (file) =>
  importsOf(file)
    .filter(({ isPackage, target }) => isPackage && !isIn(file.path, OWNERS[target] ?? [file.path]))
    .map((wrong) =>
      fault(file, wrong, `${wrong.target} belongs to ${OWNERS[wrong.target]?.join(", ") ?? ""}`),
    );

export const builtinPrefix: FileRule = (file) =>
  importsOf(file)
    // From Node 24 on the list also holds the modules that exist only with their prefix.
    .filter(({ isPackage, target }) => isPackage && !target.startsWith("node:"))
    .filter(({ target }) => builtinModules.includes(target))
    .map((wrong) => fault(file, wrong, `write node:${wrong.target}`));

/** Simulators are started by a command or a test; no part of the product may lean on them. */
const SANDBOX_USERS = ["engine/sandbox/", "parley.ts", "api/commands/", "bench/", "test/"];

export const sandboxStaysOutside: FileRule = (file) =>
  isIn(file.path, SANDBOX_USERS)
    ? []
    : importsOf(file)
        .filter(({ target }) => target.startsWith("engine/sandbox/"))
        .map((wrong) =>
          fault(file, wrong, "only parley.ts, commands, tests and benchmarks start the sandbox"),
        );

const PURE_ROOT = "engine/conversation/conversation.ts";
const PURE_PLACES = ["engine/conversation/", "engine/audio/"];
/** Only for their types. */
const PURE_TYPES = ["storage/records.ts", "engine/vendors/contracts.ts"];
const WAITING =
  /\b(?:async|await|Promise|performance|setTimeout|setInterval|setImmediate|queueMicrotask)\b|\b(?:Date\.now|Math\.random|new Date\(\)|crypto\.)/g;

/** step(state, event) and all that it reaches: no clock, promise, randomness, package, or part of the world. */
export const transitionIsPure: TreeRule = (files) => {
  const filesByPath = new Map(files.map((file) => [file.path, file]));
  const reached = new Set([PURE_ROOT]);
  const faults: Fault[] = [];
  for (const path of reached) {
    const file = filesByPath.get(path);
    if (file === undefined) continue;
    faults.push(
      ...faultsAt(
        file,
        codeOnly(file.text),
        WAITING,
        "is reached by conversation.ts and must be pure",
      ),
    );
    for (const found of importsOf(file)) {
      const isAllowed =
        isIn(found.target, PURE_PLACES) || (found.isTypeOnly && isIn(found.target, PURE_TYPES));
      if (!isAllowed) {
        faults.push(
          fault(
            file,
            found,
            `conversation.ts reaches ${found.target} through here and must be pure`,
          ),
        );
      } else if (!found.isTypeOnly) reached.add(found.target);
    }
  }
  return faults;
};

const BESIDE_THE_PRODUCT = ["bench/", "test/"];

/**
 * Product files import each other in one direction, types as well as values: a file can be read with what stands below it, and
 * nothing of it runs before what it needs. Whatever imports nothing that is left, or is imported by nothing that is left, is
 * taken away; what remains is in a circle, or between two of them.
 */
export const noImportCircle: TreeRule = (files) => {
  const product = files.filter(({ path }) => !isIn(path, BESIDE_THE_PRODUCT));
  const paths = new Set(product.map(({ path }) => path));
  const importsByFile = new Map(
    product.map((file) => [
      file,
      importsOf(file).map((found) => ({ ...found, target: fileOf(found.target, paths) })),
    ]),
  );
  const left = new Map(importsByFile);
  for (let before = -1; before !== left.size; ) {
    before = left.size;
    const remaining = new Set(Array.from(left.keys(), ({ path }) => path));
    const imported = new Set([...left.values()].flat().map(({ target }) => target));
    for (const [file, imports] of left) {
      const isInside =
        imported.has(file.path) && imports.some(({ target }) => remaining.has(target));
      if (!isInside) left.delete(file);
    }
  }
  const circling = new Set(Array.from(left.keys(), ({ path }) => path));
  return Array.from(left, ([file, imports]) =>
    imports
      .filter(({ target }) => circling.has(target))
      .map((found) => fault(file, found, `imports ${found.target} in a circle`)),
  ).flat();
};

/** Pages are written in `.tsx`, and imported as `.js` like all others. */
function fileOf(target: string, paths: ReadonlySet<string>): string {
  const page = target.replace(/\.ts$/, ".tsx");
  return !paths.has(target) && paths.has(page) ? page : target;
}

export function fault(file: SourceFile, at: Import, message: string): Fault {
  return { path: file.path, line: at.line, message };
}
