import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { consoleEndpoints } from "../../../../api/http/endpoints/console-endpoints.js";
import { EdgeOnLoopback } from "../edge-on-loopback.js";

/** The bytes that a page may load before it shows anything. */
const FIRST_LOAD_BYTES_MAX = 250 * 1024;
const BUILT = new URL("../../../../console/", import.meta.url);

let built: EdgeOnLoopback;
let unbuilt: EdgeOnLoopback;
let folder: string;

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "parley-console-"));
  for (const name of ["main-A1.js", "main-B2.css", "icon-C3.svg", "later-D4.js"]) {
    writeFileSync(join(folder, `${name}.gz`), gzipSync(`content of ${name}`));
  }
  built = await EdgeOnLoopback.start(
    consoleEndpoints(false, { folder: pathToFileURL(`${folder}/`) }),
  );
  unbuilt = await EdgeOnLoopback.start(
    consoleEndpoints(false, { folder: pathToFileURL(`${folder}/none/`) }),
  );
});
after(() => {
  built.close();
  unbuilt.close();
  rmSync(folder, { recursive: true });
});

test("every address of the console returns its single page, which is not cached", async () => {
  for (const path of ["/console", "/console/", "/console/calls", "/console/calls/some-id"]) {
    const page = await built.client.get(path);
    assert.equal(page.status, 200, path);
    assert.match(page.text, /<script type="module" src="\/console\/assets\/main-A1\.js">/);
    assert.match(page.text, /<link rel="stylesheet" href="\/console\/assets\/main-B2\.css">/);
    assert.equal(page.headers["cache-control"], "no-store");
  }
  assert.equal((await built.client.get("/consoles")).status, 404);
});

test("the page's policy allows no inline script, and inline styles only by a nonce for one response", async () => {
  const [one, other] = [await built.client.get("/console"), await built.client.get("/console")];
  const policy = String(one.headers["content-security-policy"]);
  assert.match(policy, /default-src 'none'; script-src 'self'; style-src 'self' 'nonce-/);
  assert.doesNotMatch(policy, /unsafe/);
  const nonce = /'nonce-([\w-]+)'/.exec(policy)?.[1] ?? "";
  assert.ok(nonce.length >= 20 && one.text.includes(`content="${nonce}"`));
  assert.ok(!String(other.headers["content-security-policy"]).includes(nonce));
});

test("the page accepts tokens in addresses only if it is configured", async (t) => {
  const demo = await EdgeOnLoopback.start(
    consoleEndpoints(true, { folder: pathToFileURL(`${folder}/`) }),
  );
  t.after(() => demo.close());
  const meta = '<meta name="address-tokens"';
  assert.ok((await demo.client.get("/console")).text.includes(meta));
  assert.ok(!(await built.client.get("/console")).text.includes(meta));
});

test("files are cached forever under their content hash, and a missing one does not return the page", async () => {
  const script = await built.client.get("/console/assets/later-D4.js");
  assert.equal(script.text, "content of later-D4.js");
  assert.equal(script.headers["cache-control"], "public, max-age=31536000, immutable");
  assert.equal(script.headers["content-type"], "text/javascript; charset=utf-8");
  assert.equal((await built.client.get("/console/assets/main-OLD.js")).status, 404);
});

test("a server that was built without the console says so, and only there", async () => {
  const page = await unbuilt.client.get("/console/calls");
  assert.equal(page.status, 404);
  assert.deepEqual(page.body, {
    error: "the console is not built: run `npm run build`",
    code: "path_not_found",
  });
});

test("the console initially loads at most 250 kB", () => {
  const first = readdirSync(BUILT).filter((name) => /^(?:main|chunk)-.*\.gz$/.test(name));
  const sizes = first.map((name) => statSync(new URL(name, BUILT)).size);
  const sum = sizes.reduce((total, size) => total + size, 0);
  assert.ok(sum > 10_000 && sum <= FIRST_LOAD_BYTES_MAX, `${sum} bytes`);
});
