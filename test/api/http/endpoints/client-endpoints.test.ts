import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { clientEndpoints } from "../../../../api/http/endpoints/client-endpoints.js";
import { EdgeOnLoopback } from "../edge-on-loopback.js";

const NAMES = ["audio-worklet.js", "parley-client.js", "widget.js"];
const FIXED = ["/client/audio-worklet.js", "/client/parley-client.js", "/widget.js"];
const VERSION = createHash("sha256")
  .update(gzipSync("audio-worklet.js"))
  .digest("hex")
  .slice(0, 12);

let folder: string;
let edge: EdgeOnLoopback;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), "parley-client-"));
  for (const name of NAMES) writeFileSync(join(folder, `${name}.gz`), gzipSync(name));
  edge = await EdgeOnLoopback.start(clientEndpoints(pathToFileURL(`${folder}/`)));
});
after(() => {
  edge.close();
  rmSync(folder, { recursive: true });
});

test("pages of any site may load the files, which are cached and revalidated", async () => {
  for (const path of FIXED) {
    const { status, headers, text } = await edge.client.get(path, { origin: "https://a.example" });
    assert.equal(status, 200);
    assert.equal(text, path.split("/").at(-1));
    assert.equal(headers["content-type"], "text/javascript; charset=utf-8");
    assert.equal(headers["access-control-allow-origin"], "*");
    assert.equal(headers["cross-origin-resource-policy"], "cross-origin");
    assert.equal(headers["cache-control"], "public, no-cache");
    const { etag = "" } = headers;
    const again = await edge.client.get(path, { "if-none-match": etag });
    assert.deepEqual([again.status, again.text, again.headers.etag], [304, "", etag]);
    const changed = await edge.client.get(path, { "if-none-match": '"another"' });
    assert.equal(changed.status, 200);
  }
});

test("the worklet's path contains its content hash, and is cached forever", async () => {
  const path = `/client/${VERSION}/audio-worklet.js`;
  const { status, headers } = await edge.client.get(path, { "accept-encoding": "gzip" });
  assert.equal(status, 200);
  assert.equal(headers["cache-control"], "public, max-age=31536000, immutable");
  assert.equal(headers["content-encoding"], "gzip");
  assert.equal(headers["access-control-allow-origin"], "*");
});

test("a server that was built without these files serves none", () => {
  assert.deepEqual(clientEndpoints(pathToFileURL(`${folder}/nothing/`)), []);
});
