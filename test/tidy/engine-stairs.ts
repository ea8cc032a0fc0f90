import { fault } from "./import-rules.js";
import { importsOf } from "./imports.js";
import type { FileRule } from "./source-file.js";

/** What each part of the engine may import of the others; every part may use the files that stand at the engine's foot. */
const STAIRS: Readonly<Record<string, readonly string[]>> = {
  time: [],
  security: ["time"],
  audio: ["time"],
  vendors: ["audio", "time"],
  bucket: ["time", "vendors"],
  telephony: ["audio", "time", "vendors"],
  conversation: ["audio", "time", "vendors"],
  metrics: ["conversation", "time", "vendors"],
  tenancy: ["audio", "security", "time", "vendors"],
  jobs: ["time"],
  webhooks: ["jobs", "security", "tenancy", "time", "vendors"],
  knowledge: ["jobs", "tenancy", "time", "vendors"],
  tools: ["conversation", "security", "tenancy", "time", "vendors"],
  calls: [
    "audio",
    "bucket",
    "conversation",
    "jobs",
    "knowledge",
    "metrics",
    "security",
    "telephony",
    "tenancy",
    "time",
    "tools",
    "vendors",
  ],
  analysis: ["calls", "conversation", "jobs", "tenancy", "time", "vendors"],
  cluster: [
    "calls",
    "conversation",
    "metrics",
    "security",
    "telephony",
    "tenancy",
    "time",
    "vendors",
  ],
  sandbox: ["time"],
};
const ENGINE_FOOT = new Set([
  "engine/request-error.ts",
  "engine/fair-cache.ts",
  "engine/log.ts",
  "engine/mp3-decoder.ts",
  "engine/organization-counts.ts",
  "engine/placeholders.ts",
  "engine/settings.ts",
  "engine/sparse-cache.ts",
  "engine/version.ts",
]);
/** A vendor's folder may lean on these and on no other vendor. */
const VENDORS_SHARED = new Set([
  "transport",
  "chat-completions",
  "openai-protocol",
  "stt-stream",
  "tts-socket",
]);

/** Imports inside the engine go down the stairs: who decides a call knows nothing of who records, bills or connects it. */
export const engineStairs: FileRule = (file) => {
  const part = partOf(file.path);
  if (!file.path.startsWith("engine/") || ENGINE_FOOT.has(file.path)) return [];
  const mayImport = part === undefined ? undefined : STAIRS[part];
  if (part === undefined || mayImport === undefined) {
    return [{ path: file.path, line: 1, message: "stands on no stair of the engine" }];
  }
  return importsOf(file)
    .filter(({ target }) => target.startsWith("engine/") && !ENGINE_FOOT.has(target))
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
  return VENDORS_SHARED.has(to) && (from !== "transport" || to === "transport");
}
