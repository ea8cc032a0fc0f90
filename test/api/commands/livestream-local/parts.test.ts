import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { findDebianParts } from "../../../../api/commands/livestream-local/debian-packages.js";
import { filledTemplate } from "../../../../api/commands/livestream-local/filled-template.js";
import {
  listenAddress,
  ownAddress,
  parseLocalSettings,
} from "../../../../api/commands/livestream-local/local-command.js";

test("a template is filled in completely or not at all", () => {
  assert.equal(filledTemplate("listen ${PORT}; $host ${PORT}", { PORT: "1" }), "listen 1; $host 1");
  assert.throws(() => filledTemplate("${A} ${B}", { A: "1" }), /uses \$\{B\}, which is not given/);
  assert.throws(() => filledTemplate("${A}", { A: "1", B: "2" }), /does not use B/);
});

for (const value of ["a; evil on", "a }", "$(id)", 'a"b', "a\nb"]) {
  test(`a value that nginx would read as several words is refused: ${JSON.stringify(value)}`, () => {
    assert.throws(() => filledTemplate("root ${A};", { A: value }), /^Error: A: expected a value/);
  });
}

test("missing programs and modules are named by their packages", (context) => {
  const folder = mkdtempSync(join(tmpdir(), "parley-parts-"));
  context.after(() => rmSync(folder, { recursive: true }));
  const find = () => findDebianParts(folder, { moduleFolders: [folder], systemFolders: [] });
  assert.deepEqual(find(), { missing: ["nginx", "libnginx-mod-rtmp", "ffmpeg"] });
  for (const name of ["nginx", "ffmpeg", "ffprobe", "ngx_rtmp_module.so"]) {
    writeFileSync(join(folder, name), "");
    chmodSync(join(folder, name), 0o755);
  }
  assert.deepEqual(find(), {
    nginx: join(folder, "nginx"),
    ffmpeg: join(folder, "ffmpeg"),
    rtmpModule: join(folder, "ngx_rtmp_module.so"),
  });
  rmSync(join(folder, "ffprobe"));
  assert.deepEqual(find(), { missing: ["ffmpeg"] });
});

test("the default ports are those of the specification, and every wrong setting is named", () => {
  assert.deepEqual(parseLocalSettings({}), {
    host: "0.0.0.0",
    frontPort: 8_080,
    rtmpPort: 1_935,
    stateApiPort: 4_000,
    ingestStatusPort: 8_936,
    transcoderPort: 8_937,
    arePublishKeysChecked: false,
    areViewersChecked: false,
    mediaMtx: undefined,
    rtspPort: 8_554,
    webrtcPort: 8_889,
    webrtcUdpPort: 8_189,
    publicHost: undefined,
  });
  assert.equal(parseLocalSettings({ PUBLISH_KEYS: "a=b" }).arePublishKeysChecked, true);
  for (const host of ["::", "::1", "127.0.0.1"])
    assert.equal(parseLocalSettings({ HOST: host }).host, host);
  assert.deepEqual(
    ["::", "::1", "0.0.0.0"].map((host) => [listenAddress(host, 80), ownAddress(host)]),
    [
      ["[::]:80 ipv6only=off", "127.0.0.1"],
      ["[::1]:80", "[::1]"],
      ["0.0.0.0:80", "127.0.0.1"],
    ],
  );
  assert.throws(
    () => parseLocalSettings({ FRONT_PORT: "80a", RTMP_PORT: "0", HOST: "a; evil" }),
    /FRONT_PORT.*RTMP_PORT|RTMP_PORT.*FRONT_PORT/s,
  );
});
