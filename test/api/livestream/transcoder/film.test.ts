import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import {
  FILM_SEC_MAX,
  remuxToMp4,
} from "../../../../api/livestream/transcoder/recording/mp4-remuxer.js";

test("what is a mp4 already is not remuxed again when a later part of the recording failed", async (t) => {
  const tools = mkdtempSync(join(tmpdir(), "parley-film-"));
  t.after(() => rmSync(tools, { recursive: true, force: true }));
  const folder = join(tools, "alice");
  mkdirSync(folder);
  const lines = ["#EXTM3U"];
  for (const [index, name] of ["1.ts", "2.ts"].entries()) {
    writeFileSync(join(folder, name), name);
    lines.push(`#EXTINF:${FILM_SEC_MAX - index}.0,`, name);
  }
  writeFileSync(join(folder, "index.m3u8"), `${lines.join("\n")}\n`);
  // Remuxes a recording, but not the second part before the disk has room again.
  const script = `#!/bin/sh\nread -r it\n[ "$it" = 1.ts ] || [ -e ${tools}/room ] || exit 1\nprintf %s "$it" >&3\n`;
  writeFileSync(join(tools, "ffmpeg"), script, { mode: 0o755 });
  const owner = { userId: undefined, groupId: undefined };
  const maker = { owner, path: `${tools}:/usr/bin:/bin` };
  await assert.rejects(remuxToMp4(folder, maker), /ffmpeg ended with 1/);
  const left = readFileSync(join(folder, "index.m3u8"), "utf8");
  assert.deepEqual(left.match(/^\d.*$/gm), ["2.ts"]);
  writeFileSync(join(tools, "room"), "");
  await remuxToMp4(folder, maker);
  assert.deepEqual(readdirSync(folder).sort(), ["film-1.mp4", "film-2.mp4"]);
  assert.equal(readFileSync(join(folder, "film-2.mp4"), "utf8"), "2.ts");
});
