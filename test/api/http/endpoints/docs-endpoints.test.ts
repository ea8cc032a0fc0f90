import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { docsEndpoints } from "../../../../api/http/endpoints/docs-endpoints.js";
import { EdgeOnLoopback } from "../edge-on-loopback.js";
import type { LoopbackClient } from "../loopback-client.js";

let built: EdgeOnLoopback;
let unbuilt: EdgeOnLoopback;
let folder: string;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "parley-docs-"));
  mkdirSync(join(folder, "docs"));
  writeFileSync(join(folder, "docs", "swagger-ui.js.gz"), gzipSync("the script"));
  writeFileSync(join(folder, "docs", "swagger-ui.css.gz"), gzipSync("the style"));
  built = await EdgeOnLoopback.start(
    docsEndpoints("/document.json", { folder: folderUrl("docs") }),
  );
  unbuilt = await EdgeOnLoopback.start(
    docsEndpoints("/document.json", { folder: folderUrl("nothing") }),
  );
});
after(() => {
  built.close();
  unbuilt.close();
  rmSync(folder, { recursive: true });
});

function folderUrl(name: string): URL {
  return pathToFileURL(`${join(folder, name)}/`);
}

async function sources(client: LoopbackClient): Promise<readonly string[]> {
  const { text } = await client.get("/api/docs");
  return [...text.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, source]) => source ?? "");
}

test("the library's files are compressed, and cached forever under their content hash", async () => {
  const [style = "", script = ""] = await sources(built.client);
  const hash = createHash("sha256").update(gzipSync("the script")).digest("hex").slice(0, 12);
  assert.equal(script, `/api/docs/${hash}/swagger-ui.js`);
  const zipped = await built.client.get(script, { "accept-encoding": "br, gzip" });
  assert.equal(zipped.status, 200);
  assert.equal(zipped.headers["content-encoding"], "gzip");
  assert.equal(zipped.headers["content-length"], String(gzipSync("the script").length));
  assert.equal(zipped.headers["vary"], "accept-encoding");
  assert.equal(zipped.headers["cache-control"], "public, max-age=31536000, immutable");
  assert.equal(zipped.headers["content-type"], "text/javascript; charset=utf-8");
  assert.equal(zipped.headers["x-content-type-options"], "nosniff");
  const sheet = await built.client.get(style);
  assert.equal(sheet.headers["content-type"], "text/css; charset=utf-8");
});

test("a client without gzip gets the plain file", async () => {
  const [, script = ""] = await sources(built.client);
  for (const accepted of ["", "identity", "gzip;q=0", "gzip; q=0.0, br", "xgzipped"]) {
    const plain = await built.client.get(script, { "accept-encoding": accepted });
    assert.deepEqual([plain.text, plain.headers["content-encoding"]], ["the script", undefined]);
  }
  const wished = await built.client.get(script, { "accept-encoding": "gzip;q=0.5" });
  assert.equal(wished.headers["content-encoding"], "gzip");
});

test("the page itself is not cached, since it names the files", async () => {
  const page = await built.client.get("/api/docs");
  assert.equal(page.headers["cache-control"], "no-store");
});

test("a server that was built without the page says so, and only there", async () => {
  const page = await unbuilt.client.get("/api/docs");
  assert.equal(page.status, 404);
  assert.deepEqual(page.body, {
    error: "the documentation page is not built: run `npm run build`",
    code: "path_not_found",
  });
});
