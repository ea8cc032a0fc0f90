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

/** main -> api -> engine -> storage. What a part may import besides itself; commands build what main.ts builds. */
const DIRECTIONS: readonly (readonly [part: string, mayImport: readonly string[]])[] = [
  ["main.ts", ["api/", "engine/", "storage/", "config.ts"]],
  [
    "config.ts",
    ["engine/settings.ts", "engine/telephony/telephony-settings.ts", "api/http/address-blocks.ts"],
  ],
  ["api/commands/", ["api/", "engine/", "storage/", "config.ts"]],
  ["api/livestream/main.ts", ["api/", "engine/", "storage/", "config.ts"]],
  ["api/", ["engine/", "storage/"]],
  ["deploy/livestream/front/site/", []],
  ["engine/", ["storage/"]],
  ["storage/", []],
  ["bench/", ["api/", "engine/", "storage/", "config.ts", "main.ts", "test/doubles/"]],
  [
    "test/",
    [
      "api/",
      "deploy/livestream/front/site/",
      "engine/",
      "storage/",
      "bench/",
      "config.ts",
      "main.ts",
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

/** What each part of the engine may import of the others; every part may use the files that stand at the engine's foot. */
const STAIRS: Readonly<Record<string, readonly string[]>> = {
  time: [],
  security: ["time"],
  audio: ["time"],
  vendors: ["time"],
  speech: ["vendors"],
  telephony: ["audio", "time", "vendors"],
  session: ["audio", "speech", "time", "vendors"],
  metrics: ["session", "time", "vendors"],
  tenancy: ["security", "time", "vendors"],
  tools: ["security", "session", "tenancy", "time", "vendors"],
  calls: [
    "audio",
    "metrics",
    "security",
    "session",
    "speech",
    "telephony",
    "tenancy",
    "time",
    "tools",
    "vendors",
  ],
  sandbox: ["time"],
};
const ENGINE_FOOT = ["engine/failure.ts", "engine/log.ts", "engine/settings.ts"];
/** A vendor's folder may lean on these and on no other vendor. */
const VENDORS_SHARED = ["transport", "chat-completions"];

/** Imports inside the engine go down the stairs: who decides a call knows nothing of who records, bills or connects it. */
export const engineStairs: FileRule = (file) => {
  const part = partOf(file.path);
  if (!file.path.startsWith("engine/") || ENGINE_FOOT.includes(file.path)) return [];
  const mayImport = part === undefined ? undefined : STAIRS[part];
  if (part === undefined || mayImport === undefined) {
    return [{ path: file.path, line: 1, message: "stands on no stair of the engine" }];
  }
  return importsOf(file)
    .filter(({ target }) => target.startsWith("engine/") && !ENGINE_FOOT.includes(target))
    .filter(({ target }) => {
      const other = partOf(target) ?? "";
      return other === part ? !isNeighbour(file.path, target) : !mayImport.includes(other);
    })
    .map((wrong) => fault(file, wrong, `engine/${part} may not import ${wrong.target}`));
};

function partOf(path: string): string | undefined {
  const [, part, ...rest] = path.split("/");
  return rest.length > 0 ? part : undefined;
}

/** Inside `vendors`, the shared folders know no vendor, and vendors do not know each other. */
function isNeighbour(path: string, target: string): boolean {
  const [from, to] = [path, target].map((each) => /^engine\/vendors\/([^/]+)\//.exec(each)?.[1]);
  if (from === undefined || to === undefined || from === to) return true;
  return VENDORS_SHARED.includes(to) && (from !== "transport" || to === "transport");
}

/** A package is imported only by the places that own it. */
const OWNERS: Readonly<Record<string, readonly string[]>> = {
  "uWebSockets.js": ["api/http/"],
  undici: ["engine/vendors/", "test/engine/vendors/"],
  kysely: ["storage/", "test/storage/"],
  "better-sqlite3": ["storage/", "test/storage/"],
  jose: ["engine/security/", "engine/telephony/vonage/", "test/engine/security/"],
  ws: ["engine/sandbox/", "bench/", "test/"],
  piscina: ["engine/audio/"],
  "@valibot/to-json-schema": ["api/contract/", "test/api/contract/"],
  "prom-client": ["engine/metrics/"],
  pino: ["engine/log.ts"],
  "mpg123-decoder": ["engine/sandbox/", "engine/audio/", "api/commands/", "bench/", "test/"],
  "wasm-media-encoders": ["engine/sandbox/", "engine/audio/", "api/commands/", "bench/", "test/"],
  "fast-check": ["test/", "bench/"],
  "playwright-core": ["bench/livestream/"],
  "hls.js": ["deploy/livestream/front/site/"],
  tinybench: ["bench/"],
  fastify: ["bench/"],
};

export const ownedPackages: FileRule = (file) =>
  importsOf(file)
    .filter(({ isPackage, target }) => isPackage && !isIn(file.path, OWNERS[target] ?? [file.path]))
    .map((wrong) =>
      fault(file, wrong, `${wrong.target} belongs to ${OWNERS[wrong.target]?.join(", ") ?? ""}`),
    );

export const builtinPrefix: FileRule = (file) =>
  importsOf(file)
    .filter(({ isPackage, target }) => isPackage && builtinModules.includes(target))
    .map((wrong) => fault(file, wrong, `write node:${wrong.target}`));

/** Simulators are started by a command or a test; no part of the product may lean on them. */
const SANDBOX_USERS = ["engine/sandbox/", "main.ts", "api/commands/", "bench/", "test/"];

export const sandboxStaysOutside: FileRule = (file) =>
  isIn(file.path, SANDBOX_USERS)
    ? []
    : importsOf(file)
        .filter(({ target }) => target.startsWith("engine/sandbox/"))
        .map((wrong) =>
          fault(file, wrong, "only main.ts, commands, tests and benchmarks start the sandbox"),
        );

const PURE_ROOT = "engine/session/transition.ts";
const PURE_PLACES = ["engine/session/", "engine/speech/", "engine/audio/"];
/** Only for their types. */
const PURE_TYPES = ["storage/records.ts", "engine/vendors/contracts.ts"];
const WAITING =
  /\b(?:async|await|Promise|performance|setTimeout|setInterval|setImmediate|queueMicrotask)\b|\b(?:Date\.now|Math\.random|new Date\(\)|crypto\.)/g;

/** transition(state, event) and all that it reaches: no clock, promise, randomness, package, or part of the world. */
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
        "is reached by transition.ts and must be pure",
      ),
    );
    for (const found of importsOf(file)) {
      const isAllowed =
        isIn(found.target, PURE_PLACES) || (found.isTypeOnly && isIn(found.target, PURE_TYPES));
      if (!isAllowed) {
        faults.push(
          fault(file, found, `transition.ts reaches ${found.target} through here and must be pure`),
        );
      } else if (!found.isTypeOnly) reached.add(found.target);
    }
  }
  return faults;
};

function fault(file: SourceFile, at: Import, message: string): Fault {
  return { path: file.path, line: at.line, message };
}
