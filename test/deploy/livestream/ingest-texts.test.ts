import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { packageRoot } from "../../../api/commands/livestream-local/package-root.js";
import { transcoderDefaults } from "../../../api/livestream/transcoder/transcoder-config.js";
import { deployed, mediaMtx } from "./deployed-files.js";

const readme = deployed("ingest/README.md");
const nginx = deployed("ingest/nginx-rtmp.conf");

test("the README lists every setting of the transcoder with its default", () => {
  const named = new Map<string, string>();
  for (const [, names = "", values = ""] of readme.matchAll(/^\| (`[A-Z_`, ]+`) \| ([^|]*) \|/gm)) {
    const given = values.split(/,\s*(?=`)/).map((value) => value.replaceAll("`", "").trim());
    for (const [place, name] of names.split(", ").entries()) {
      named.set(name.replaceAll("`", ""), given[place] ?? "none");
    }
  }
  const expected = transcoderDefaults();
  assert.deepEqual([...named.keys()].sort(), Object.keys(expected).sort());
  for (const [name, value] of Object.entries(expected)) {
    const shown = value === undefined || value === "" ? "none" : value;
    assert.equal(named.get(name), shown, name);
  }
});

test("every service accepts the same stream keys", () => {
  const key = "[A-Za-z0-9_-]{1,64}";
  const read = (path: string) => readFileSync(join(packageRoot(), path), "utf8");
  assert.ok(nginx.includes(`"^${key}$"`));
  assert.ok(readme.includes(`^${key}$`));
  assert.ok(Object.keys(mediaMtx.paths).includes(`~^live/${key}$`));
  assert.equal(mediaMtx.authInternalUsers[0]?.permissions[0]?.path, `~^live/${key}$`);
  assert.ok(read("api/livestream/webhook-form.ts").includes(`/^${key}$/`));
  assert.ok(deployed("front/nginx.conf.template").includes(`(?<stream_key>${key})`));
});

test("the first lines of the nginx ingest's configuration describe its placeholders", () => {
  const described = [...nginx.matchAll(/^# {3}(INGEST_[A-Z_]+) /gm)].map(([, name = ""]) => name);
  const used = new Set([...nginx.matchAll(/\$\{([A-Z_]+)\}/g)].map(([, name = ""]) => name));
  assert.deepEqual([...used].sort(), described.sort());
});

test("the nginx ingest starts no process, and notifies the transcoder when a broadcaster has left", () => {
  assert.match(nginx, /^\s+on_publish_done http:\/\/\$\{INGEST_TRANSCODER\}\/gone;$/m);
  assert.doesNotMatch(nginx, /^\s+exec/m);
  assert.match(nginx, /listen \$\{INGEST_HTTP_LISTEN\};/);
});

// Trap (g): nginx makes an ETag from seconds and size, which can be equal for two playlists.
test("the front proxy sends playlists without an ETag", () => {
  assert.match(deployed("front/nginx.conf.template"), /^ {4}etag off;$/m);
});
