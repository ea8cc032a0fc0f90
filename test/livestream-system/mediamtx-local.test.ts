import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { freePorts } from "../../bench/livestream/free-ports.js";
import { StackProcess } from "../../bench/livestream/stack-process.js";

const IMITATION = fileURLToPath(new URL("./mediamtx-imitation.js", import.meta.url));

/** A program that is started instead of MediaMTX. */
function program(context: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "parley-mediamtx-program-"));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "mediamtx");
  writeFileSync(path, `#!/bin/sh\nexec ${process.execPath} ${IMITATION} "$@"\n`);
  chmodSync(path, 0o755);
  return path;
}

test("an installed MediaMTX serves as the ingest: it gets its configuration, WHIP reaches it, and the transcoder is notified of a broadcast", async (context) => {
  const [rtsp = 0, webrtc = 0, udp = 0] = await freePorts(3);
  const stack = await StackProcess.start({
    MEDIAMTX: program(context),
    RTSP_PORT: String(rtsp),
    WEBRTC_PORT: String(webrtc),
    WEBRTC_UDP_PORT: String(udp),
    PUBLISH_KEYS: "alpha=a-long-enough-secret",
  });
  context.after(() => stack.stop("SIGTERM"));
  await stack.line(/^\[ingest\] paths: ~\^live\/\[A-Za-z0-9_-\]\{1,64\}\$$/);
  await stack.line(
    new RegExp(
      `^\\[ingest\\] keys: http, http://127\\.0\\.0\\.1:${stack.stateApiPort}/webhook/on-auth$`,
    ),
  );
  await stack.line(/^or in a browser at http:\/\/127\.0\.0\.1:\d+\/go-live\.html$/);
  const linesBefore = stack.lines.length;
  const answer = await fetch(`${stack.frontUrl}/whip/alpha?secret=a-long-enough-secret`, {
    method: "POST",
    headers: { "content-type": "application/sdp" },
    body: "v=0",
  });
  assert.deepEqual([answer.status, answer.headers.get("location")], [201, "/whip/alpha/0a1b2c3d"]);
  await stack.line(/^\[ingest\] GET \/v3\/paths\/list/, linesBefore);
  await stack.line(/^\[transcoder\] .*alpha/, linesBefore);
});

test("a MEDIAMTX that is not a program is reported, and nothing starts", async () => {
  await assert.rejects(
    StackProcess.start({ MEDIAMTX: "/nowhere/mediamtx" }),
    /MEDIAMTX: expected the path/,
  );
});
