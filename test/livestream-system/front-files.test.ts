import assert from "node:assert/strict";
import { symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { FrontStand } from "./front-stand.js";

const PLAYLIST = "#EXTM3U\n".padEnd(
  600,
  "# a comment that is long enough to be worth compressing\n",
);
const SEGMENT = Buffer.alloc(1_880, 0x47);

let front: FrontStand;

before(async () => {
  front = await FrontStand.start();
  front.put("alpha/master.m3u8", PLAYLIST);
  front.put("alpha/480p/index.m3u8", PLAYLIST);
  front.put("alpha/480p/1700000000.ts", SEGMENT);
  front.put("alpha/thumbnail.jpg", "picture");
  front.put("alpha/.secret.ts", SEGMENT);
  front.put("alpha/notes.txt", "not for viewers");
});
after(() => front.stop());

test("playlists have their content type, are never cached, and have no validators", async () => {
  for (const path of ["/hls/alpha/master.m3u8", "/hls/alpha/480p/index.m3u8"]) {
    const reply = await front.ask("GET", path);
    assert.equal(reply.status, 200);
    assert.equal(reply.body, PLAYLIST);
    assert.equal(reply.headers.get("content-type"), "application/vnd.apple.mpegurl");
    assert.equal(reply.headers.get("cache-control"), "no-cache, no-store");
    assert.equal(reply.headers.get("access-control-allow-origin"), "*");
    assert.equal(reply.headers.get("etag"), undefined);
  }
});

test("two playlists of the same second and size are distinguished", async () => {
  const second = new Date(1_700_000_000_000);
  const file = join(front.folder, "hls/alpha/480p/index.m3u8");
  utimesSync(file, second, second);
  const first = await front.ask("GET", "/hls/alpha/480p/index.m3u8");
  const fresh = PLAYLIST.replace("comment", "COMMENT");
  writeFileSync(file, fresh);
  utimesSync(file, second, second);
  const date = first.headers.get("last-modified") ?? second.toUTCString();
  const reply = await front.ask("GET", "/hls/alpha/480p/index.m3u8", { "If-Modified-Since": date });
  assert.deepEqual([reply.status, reply.body], [200, fresh]);
});

test("playlists are compressed for clients that accept it", async () => {
  const reply = await fetch(`${front.url}/hls/alpha/master.m3u8`, {
    headers: { "Accept-Encoding": "gzip" },
  });
  assert.equal(reply.headers.get("content-encoding"), "gzip");
  assert.equal(await reply.text(), PLAYLIST);
  const raw = await front.ask("GET", "/hls/alpha/master.m3u8", { "Accept-Encoding": "gzip" });
  assert.equal(raw.headers.get("content-encoding"), "gzip");
  assert.ok(gunzipSync(Buffer.from(raw.body, "latin1")).includes("#EXTM3U"));
});

test("segments are cacheable forever, by any cache, and support ranges", async () => {
  const whole = await front.ask("GET", "/hls/alpha/480p/1700000000.ts");
  assert.equal(whole.status, 200);
  assert.equal(whole.headers.get("content-type"), "video/mp2t");
  assert.equal(whole.headers.get("cache-control"), "public, max-age=3600, immutable");
  assert.equal(whole.headers.get("access-control-allow-origin"), "*");
  assert.equal(whole.headers.get("accept-ranges"), "bytes");

  const part = await front.ask("GET", "/hls/alpha/480p/1700000000.ts", { Range: "bytes=0-187" });
  assert.equal(part.status, 206);
  assert.equal(part.body.length, 188);
  assert.equal(part.headers.get("content-range"), "bytes 0-187/1880");
  assert.match(part.headers.get("access-control-expose-headers") ?? "", /Content-Range/);

  const beyond = await front.ask("GET", "/hls/alpha/480p/1700000000.ts", { Range: "bytes=9999-" });
  assert.equal(beyond.status, 416);
  assert.equal(beyond.headers.get("content-range"), "bytes */1880");
  assert.equal(beyond.headers.get("cache-control"), "no-cache");
  assert.equal(beyond.headers.get("access-control-allow-origin"), "*");
});

test("a 404 for a file that does not exist yet is never cached, and every site can read it", async () => {
  for (const path of [
    "/hls/alpha/480p/1700000009.ts",
    "/hls/nobody/master.m3u8",
    "/hls/alpha/none/index.m3u8",
    "/hls/alpha/poster.jpg",
  ]) {
    const reply = await front.ask("GET", path);
    assert.equal(reply.status, 404, path);
    assert.match(reply.headers.get("cache-control") ?? "", /no-store/);
    assert.equal(reply.headers.get("access-control-allow-origin"), "*");
  }
});

test("a thumbnail is cached only for seconds", async () => {
  const reply = await front.ask("GET", "/hls/alpha/thumbnail.jpg");
  assert.equal(reply.headers.get("content-type"), "image/jpeg");
  assert.equal(reply.headers.get("cache-control"), "public, max-age=5");
});

test("files can only be read, and a preflight says so", async () => {
  for (const path of ["/hls/alpha/master.m3u8", "/hls/alpha/480p/1700000000.ts", "/", "/main.js"]) {
    for (const method of ["POST", "PUT", "DELETE"]) {
      const reply = await front.ask(method, path, {}, "x");
      assert.equal(reply.status, 405, `${method} ${path}`);
      assert.equal(reply.headers.get("allow"), "GET, HEAD, OPTIONS");
    }
  }
  const preflight = await front.ask("OPTIONS", "/hls/alpha/480p/1700000000.ts", {
    Origin: "https://elsewhere.example",
    "Access-Control-Request-Method": "GET",
    "Access-Control-Request-Headers": "range",
  });
  assert.equal(preflight.status, 204);
  assert.match(preflight.headers.get("access-control-allow-headers") ?? "", /Range/);
});

test("only playlists, segments and thumbnails of well-formed keys are served", async () => {
  writeFileSync(join(front.folder, "outside.ts"), "outside");
  symlinkSync(join(front.folder, "outside.ts"), join(front.folder, "hls/alpha/480p/7.ts"));
  symlinkSync("/etc", join(front.folder, "hls/alpha/etc"));
  front.put(`${"k".repeat(65)}/master.m3u8`, PLAYLIST);
  const paths = [
    "/hls",
    "/hls/",
    "/hls/alpha",
    "/hls/alpha/",
    "/hls/alpha/notes.txt",
    "/hls/alpha/.secret.ts",
    "/hls/alpha/480p/7.ts",
    "/hls/alpha/etc/passwd",
    "/hls/../outside.ts",
    "/hls/alpha/../../outside.ts",
    "/hls/alpha/%2e%2e/%2e%2e/outside.ts",
    "/hls/..%2foutside.ts",
    "/hls/alpha/480p/..%2f..%2f..%2foutside.ts",
    "/hls/alpha\\..\\..\\outside.ts",
    "/hls/alpha/master.m3u8%00.ts",
    "/hls/alpha/480p/1700000000.ts/",
    "/hls/alpha/480p/deeper/1.ts",
    "/hls/al.pha/master.m3u8",
    `/hls/${"k".repeat(65)}/master.m3u8`,
    "/../nginx/front.conf",
    "/.git/config",
  ];
  for (const path of paths) {
    const reply = await front.ask("GET", path);
    assert.ok([400, 403, 404].includes(reply.status), `${path}: ${reply.status}`);
    assert.doesNotMatch(reply.body, /outside|root:|not for viewers|worker_processes/, path);
  }
});

test("the page must be revalidated, and may load nothing from other sites", async () => {
  const page = await front.ask("GET", "/");
  assert.equal(page.status, 200);
  assert.equal(page.headers.get("content-type"), "text/html; charset=utf-8");
  assert.equal(page.headers.get("cache-control"), "no-cache");
  assert.equal(page.headers.get("x-content-type-options"), "nosniff");
  assert.equal(page.headers.get("referrer-policy"), "no-referrer");
  assert.equal(page.headers.get("access-control-allow-origin"), undefined);
  const policy = page.headers.get("content-security-policy") ?? "";
  assert.match(policy, /default-src 'none'/);
  assert.doesNotMatch(policy, /unsafe|https?:|\*/);
  const loaded = [...page.body.matchAll(/(?:src|href)="([^"#]+)"/g)].map(([, path]) => path ?? "");
  assert.ok(loaded.includes("/main.js"));
  for (const path of loaded) {
    const reply = await front.ask("GET", path);
    assert.equal(reply.status, 200, path);
    const again = await front.ask("GET", path, {
      "If-None-Match": reply.headers.get("etag") ?? "",
    });
    assert.equal(again.status, 304, path);
  }
  assert.equal(page.headers.get("server"), "nginx");
});

test("nginx logs no complaint about a request, which would contain its whole URL", () => {
  assert.deepEqual(front.lines, []);
});
