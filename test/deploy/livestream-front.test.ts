import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { packageRoot } from "../../api/commands/livestream-local/package-root.js";

const SITE_FILES = [
  "go-live.html",
  "go-live.js",
  "icon.svg",
  "index.html",
  "licenses.txt",
  "main.js",
  "page.css",
];
const FRONT = join(packageRoot(), "deploy/livestream/front");
const conf = readFileSync(join(FRONT, "nginx.conf.template"), "utf8");
const dockerfile = readFileSync(join(FRONT, "Dockerfile"), "utf8");
const page = readFileSync(join(FRONT, "site/index.html"), "utf8");

function all(text: string, pattern: RegExp): readonly string[] {
  return [...text.matchAll(pattern)].map(([, group = ""]) => group);
}

test("the image sets exactly the variables that the template uses", () => {
  const wanted = new Set(all(conf, /\$\{([A-Z_]+)\}/g));
  const given = new Set(all(dockerfile, /\b(FRONT_[A-Z_]+)=/g));
  assert.deepEqual([...given].sort(), [...wanted].sort());
});

test("the proxy forwards only three paths of the state API, unchanged, and uses two more itself", () => {
  assert.deepEqual(all(conf, /proxy_pass \$state_api(\S*?)(?:\$is_args\$args)?;/g), [
    "/health",
    "/streams",
    "/streams/events",
    "/webhook/on-view",
    "/webhook/on-watch",
  ]);
  for (const path of ["hls-viewer", "view-auth"]) {
    assert.match(conf, new RegExp(`location = /${path} \\{\\s+internal;`));
  }
  assert.deepEqual(all(conf, /location = (\/api\/\S+)/g), [
    "/api/health",
    "/api/streams",
    "/api/streams/events",
  ]);
  assert.match(conf, /location \^~ \/api\/ +\{[^}]*return 404; \}/);
  assert.match(conf, /location \^~ \/webhook \{[^}]*return 404; \}/);
});

test("the proxy resolves no upstream at its start, so it can start before the other services", () => {
  assert.doesNotMatch(conf, /^\s*upstream\b/m);
  for (const target of all(conf, /proxy_pass (\S+);/g))
    assert.match(target, /^\$(state_api|webrtc)/);
});

test("headers are set in one place only, since a location that adds one drops the others", () => {
  const [before = "", noSuchPart = ""] = conf.split("location @no-such-part");
  const firstLocation = before.indexOf("location =");
  assert.doesNotMatch(before.slice(firstLocation), /add_header/);
  assert.equal(all(noSuchPart, /(add_header) /g).length, 1);
});

test("the image is pinned, does not run as root, and has a readiness check", () => {
  for (const image of all(dockerfile, /^FROM (\S+)/gm)) assert.match(image, /:\d+[\w.-]*$/);
  assert.match(dockerfile, /^FROM nginx:\d+\.\d+\.\d+-/m);
  assert.match(dockerfile, /^USER nginx$/m);
  assert.match(dockerfile, /^HEALTHCHECK /m);
  const [health = ""] = all(dockerfile, /http:\/\/127\.0\.0\.1:8080(\/[\w-]+)/g);
  assert.ok(conf.includes(`location = ${health} {`), health);
  assert.match(dockerfile, /^EXPOSE 8080$/m);
});

test("the image's build copies every file that the page is built from", (context) => {
  const root = packageRoot();
  const folder = mkdtempSync(join(tmpdir(), "parley-site-build-"));
  context.after(() => rmSync(folder, { recursive: true }));
  const [siteStage = ""] = dockerfile.split(/^FROM nginx/m);
  for (const copied of all(siteStage, /^COPY (.+) \S+$/gm).flatMap((names) => names.split(" "))) {
    cpSync(join(root, copied), join(folder, copied), { recursive: true });
  }
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  const build = spawnSync(join(folder, "deploy/livestream/front/build-site.sh"), ["made"], {
    cwd: folder,
    encoding: "utf8",
  });
  assert.equal(build.status, 0, build.stdout + build.stderr);
  const made = readdirSync(join(folder, "made")).sort();
  assert.deepEqual(made, SITE_FILES);
  for (const path of all(page, /(?:src|href)="\/([^"]+)"/g)) assert.ok(made.includes(path), path);
});

test("the page loads scripts, styles and addresses only from its own site", () => {
  assert.doesNotMatch(page, /<script(?![^>]* src="\/)[^>]*>|<style|\sstyle=|\son\w+=/i);
  for (const address of all(page, /(?:src|href)="([^"]*)"/g)) assert.match(address, /^[/#]/);
});

test("a stream's texts are never inserted as markup", () => {
  for (const name of readdirSync(join(FRONT, "site")).filter((file) => file.endsWith(".ts"))) {
    const text = readFileSync(join(FRONT, "site", name), "utf8");
    assert.doesNotMatch(
      text,
      /innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(/,
      name,
    );
  }
});
