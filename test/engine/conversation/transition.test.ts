import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { playScript } from "./call-script.js";

/** Readable calls: `npm run test:rewrite` writes the answers anew; then read the difference. */
const folder = join(repositoryRoot(), "test/engine/conversation/calls");
const rewrite = process.env["REWRITE_CALLS"] === "1";

for (const name of readdirSync(folder).filter((file) => file.endsWith(".txt"))) {
  test(`the call "${name.replace(".txt", "").replaceAll("-", " ")}" goes as written`, () => {
    const path = join(folder, name);
    const written = readFileSync(path, "utf8");
    const played = playScript(written);
    if (rewrite) writeFileSync(path, played);
    else assert.equal(played, written);
  });
}

function repositoryRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, "package.json"))) folder = dirname(folder);
  return folder;
}
