import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { packageRoot } from "../../../api/commands/livestream-local/package-root.js";
import { hookSettingNames } from "../../../api/commands/livestream-local/rtmp-ingest.js";
import { deployed, FOLDER, mediaMtx } from "./deployed-files.js";

const readme = deployed("ingest/README.md");
const settings = deployed("ingest/settings.sh");
const nginx = deployed("ingest/nginx-rtmp.conf");
const scripts = readdirSync(join(FOLDER, "ingest")).filter((name) => name.endsWith(".sh"));

/** `NAME` and default of each `: "${NAME:=default}"`. */
function defaults(): ReadonlyMap<string, string> {
  return new Map(
    [...settings.matchAll(/"\$\{([A-Z_]+):=([^}]*)\}"/g)].map(([, name = "", value = ""]) => [
      name,
      value,
    ]),
  );
}

test("the page names every setting of the hook, with its default", () => {
  const named = new Map<string, string>();
  for (const [, names = "", values = ""] of readme.matchAll(/^\| (`[A-Z_`, ]+`) \| ([^|]*) \|/gm)) {
    const given = values.split(/,\s*(?=`)/).map((value) => value.replaceAll("`", "").trim());
    for (const [place, name] of names.split(", ").entries()) {
      named.set(name.replaceAll("`", ""), given[place] ?? "");
    }
  }
  const expected = new Map(defaults());
  assert.deepEqual([...named.keys()].sort(), [...expected.keys()].sort());
  for (const [name, value] of expected) {
    const said = named.get(name);
    if (value === "") assert.match(said ?? "", /none|standard error/, name);
    else assert.equal(said, value.replace("$", ""), name);
  }
});

test("the stand-in lets every setting of the hook through that means something to it", () => {
  // The first is the shell's; the second is asked only where MediaMTX has started the hook.
  const passed = new Set(hookSettingNames());
  const known = new Set(defaults().keys());
  assert.ok(passed.delete("PATH"));
  assert.ok(known.delete("MEDIAMTX_API_URL"));
  assert.deepEqual([...passed].sort(), [...known].sort());
});

test("a stream key is the same everywhere", () => {
  const key = "[A-Za-z0-9_-]{1,64}";
  const read = (path: string) => readFileSync(join(packageRoot(), path), "utf8");
  assert.ok(nginx.includes(`"^${key}$"`));
  assert.ok(readme.includes(`^${key}$`));
  assert.ok(Object.keys(mediaMtx.paths).includes(`~^live/${key}$`));
  assert.equal(mediaMtx.authInternalUsers[0]?.permissions[0]?.path, `~^live/${key}$`);
  assert.ok(read("api/livestream/webhook-form.ts").includes(`/^${key}$/`));
  assert.ok(deployed("front/nginx.conf.template").includes(`(?<stream_key>${key})`));
  assert.match(settings, /\*\[!A-Za-z0-9_-\]\*\) return 1/);
  assert.match(settings, /\$\{#1\} -le 64/);
});

test("placeholders of the stand-in's configuration are described in its first lines", () => {
  const described = [...nginx.matchAll(/^# {3}(INGEST_[A-Z_]+) /gm)].map(([, name = ""]) => name);
  const used = new Set([...nginx.matchAll(/\$\{([A-Z_]+)\}/g)].map(([, name = ""]) => name));
  assert.deepEqual([...used].sort(), described.sort());
});

// nginx-rtmp neither signals nor restarts what exec_publish starts.
test("the stand-in's hook is one that it signals and restarts", () => {
  assert.match(nginx, /^\s+exec_push \$\{INGEST_HOOKS\}\/hls-ladder\.sh publish \$name \$addr;$/m);
  assert.match(nginx, /^\s+exec_kill_signal int;$/m);
  assert.doesNotMatch(nginx, /^\s+exec_publish /m);
  assert.match(nginx, /listen \$\{INGEST_HTTP_LISTEN\};/);
});

// Trap (g): nginx makes a tag of seconds and size, which can be those of two playlists.
test("the front proxy gives playlists no tag", () => {
  assert.match(deployed("front/nginx.conf.template"), /^ {4}etag off;$/m);
});

test("hooks are short, can be started, and need neither bash nor curl", () => {
  for (const name of scripts) {
    const text = deployed(`ingest/${name}`);
    assert.ok(text.split("\n").length <= 300, name);
    assert.doesNotMatch(text, /\b(?:bash|curl)\b(?! )|\[\[|\blocal\b|<\(|\$'/, name);
    const isProgram = text.startsWith("#!/bin/sh\n");
    const isExecutable = (statSync(join(FOLDER, "ingest", name)).mode & 0o111) === 0o111;
    assert.equal(isProgram, isExecutable, name);
  }
  assert.deepEqual(
    scripts.filter((name) => deployed(`ingest/${name}`).startsWith("#!")),
    ["hls-janitor.sh", "hls-ladder.sh"],
  );
});

test("every part of the hook is named in the page and read by a program", () => {
  const programs = deployed("ingest/hls-ladder.sh") + deployed("ingest/hls-janitor.sh");
  for (const name of scripts) {
    assert.ok(readme.includes(`\`${name}\``), name);
    if (!deployed(`ingest/${name}`).startsWith("#!")) {
      assert.ok(programs.includes(`. "$hooks/${name}"`), name);
    }
  }
});
