import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { findDebianParts } from "../../api/commands/livestream-local/debian-packages.js";
import { filledTemplate } from "../../api/commands/livestream-local/filled-template.js";
import { packageRoot } from "../../api/commands/livestream-local/package-root.js";

const FRONT = join(packageRoot(), "deploy/livestream/front");

test("nginx accepts the image's configuration while no other container is running", (context) => {
  const folder = mkdtempSync(join(tmpdir(), "parley-front-image-"));
  context.after(() => rmSync(folder, { recursive: true }));
  const dockerfile = readFileSync(join(FRONT, "Dockerfile"), "utf8");
  const values = Object.fromEntries(
    [...dockerfile.matchAll(/\b(FRONT_[A-Z_]+)=(?:"([^"]*)"|(\S+))/g)].map(
      ([, name = "", quoted, plain = ""]) => [name, quoted ?? plain],
    ),
  );
  const template = readFileSync(join(FRONT, "nginx.conf.template"), "utf8");
  // Takes the place of the container's own output, which a test's process does not have.
  const given = { ...values, FRONT_TEMP: folder, FRONT_ACCESS_LOG: `${folder}/access.log front` };
  const path = join(folder, "nginx.conf");
  writeFileSync(path, filledTemplate(template, given));
  const debian = findDebianParts(process.env["PATH"] ?? "");
  assert.ok(!("missing" in debian));
  const check = spawnSync(debian.nginx, ["-t", "-q", "-c", path, "-e", "stderr"], {
    encoding: "utf8",
  });
  assert.deepEqual([check.status, check.stderr], [0, ""]);
});
