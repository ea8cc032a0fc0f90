import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { packageRoot } from "../../../api/commands/livestream-local/package-root.js";
import { parseLiveStreamConfig } from "../../../api/livestream/livestream-config.js";
import { compose, deployed, FOLDER, keysCompose, mediaMtx } from "./deployed-files.js";

const { "state-api": stateApi, ingest, front } = compose.services;
const ingestImage = deployed("ingest/Dockerfile");
const frontImage = deployed("front/Dockerfile");

function portOf(address: string): string {
  return address.slice(address.lastIndexOf(":") + 1);
}

/** The names in a Dockerfile's `ENV` instructions, one per line. */
function imageVariable(image: string, name: string): string | undefined {
  return new RegExp(`^(?:ENV)?\\s+${name}=(\\S+?)(?: \\\\)?$`, "m").exec(image)?.[1];
}

test("only the ports of RTMP, WebRTC media and the front proxy are published", () => {
  assert.deepEqual(stateApi.ports, []);
  assert.deepEqual(ingest.ports, ["1935:1935", "8189:8189/udp"]);
  assert.deepEqual(front.ports, [
    `\${FRONT_PORT:-8080}:${imageVariable(frontImage, "FRONT_LISTEN")}`,
  ]);
  assert.equal(imageVariable(frontImage, "FRONT_LISTEN"), "8080");
  assert.deepEqual(stateApi.networks, ["inside"], "the webhooks cannot be reached from outside");
});

test("MediaMTX listens where the other services expect it, and on loopback where they do not need it", () => {
  assert.equal(portOf(mediaMtx.rtmpAddress), "1935");
  assert.equal(portOf(mediaMtx.webrtcLocalUDPAddress), "8189");
  assert.equal(
    imageVariable(frontImage, "FRONT_WEBRTC"),
    `ingest:${portOf(mediaMtx.webrtcAddress)}`,
  );
  assert.deepEqual(ingest.expose, [portOf(mediaMtx.webrtcAddress)]);
  assert.equal(imageVariable(ingestImage, "SOURCE_URL"), `rtsp://${mediaMtx.rtspAddress}/live/KEY`);
  assert.equal(mediaMtx.rtspAddress, "127.0.0.1:8554");
  assert.equal(imageVariable(ingestImage, "MEDIAMTX_API_URL"), `http://${mediaMtx.apiAddress}`);
  assert.equal(mediaMtx.apiAddress, "127.0.0.1:9997");
  assert.deepEqual(mediaMtx.rtspTransports, ["tcp"]);
});

test("every service finds the state API at its address", () => {
  const { LIVESTREAM_PORT } = stateApi.environment;
  const { port } = parseLiveStreamConfig({ LIVESTREAM_PORT });
  const address = `state-api:${port}`;
  assert.equal(port, 4000);
  assert.deepEqual(stateApi.expose, [String(port)]);
  assert.equal(ingest.environment["STATE_API_URL"], `http://${address}`);
  assert.equal(imageVariable(ingestImage, "STATE_API_URL"), `http://${address}`);
  assert.equal(imageVariable(frontImage, "FRONT_STATE_API"), address);
  assert.equal(mediaMtx.authHTTPAddress, `http://${address}/webhook/on-auth`);
  assert.match(
    stateApi.healthcheck.test.join(" "),
    new RegExp(`http://127\\.0\\.0\\.1:${port}/health`),
  );
});

test("the ingest writes the volume of segments, the other services read it at the same path, and recordings have a volume of their own", () => {
  const root = "/srv/hls";
  assert.deepEqual(ingest.volumes, [`hls:${root}`, "recordings:/srv/recordings"]);
  // A new volume gets the owner of the image's folder.
  assert.match(ingestImage, /chown 1000:1000 [^\n]*\/srv\/recordings$/m);
  assert.deepEqual(stateApi.volumes, [`hls:${root}:ro`]);
  assert.deepEqual(front.volumes, [`hls:${root}:ro`]);
  assert.equal(stateApi.environment["HLS_ROOT"], root);
  assert.equal(ingest.environment["HLS_ROOT"], root);
  assert.equal(imageVariable(ingestImage, "HLS_ROOT"), root);
  assert.equal(imageVariable(frontImage, "FRONT_HLS_ROOT"), root);
  assert.match(compose.volumes.hls.driver_opts["o"] ?? "", /uid=1000,gid=1000,mode=0755/);
  assert.equal(ingest.user, "1000:1000");
});

test("only memory is writable", () => {
  for (const service of [stateApi, ingest, front]) {
    assert.equal(service.read_only, true);
    assert.equal(service.restart, "unless-stopped");
    assert.deepEqual(service.cap_drop, ["ALL"]);
    assert.deepEqual(service.security_opt, ["no-new-privileges:true"]);
  }
  const runFolder = imageVariable(ingestImage, "RUN_DIR") ?? "";
  assert.ok(ingest.tmpfs.some((entry) => entry.startsWith(`${runFolder}:uid=1000`)));
  assert.match(ingestImage, /^USER 1000:1000$/m);
  assert.match(frontImage, /^USER nginx$/m);
});

test("each service waits for its dependencies, and has its own health check", () => {
  assert.deepEqual(ingest.depends_on, { "state-api": { condition: "service_healthy" } });
  assert.deepEqual(front.depends_on["state-api"], { condition: "service_healthy" });
  assert.deepEqual(stateApi.depends_on, {});
  assert.match(ingest.healthcheck.test.join(" "), /http:\/\/127\.0\.0\.1:9997\/v3\/paths\/list/);
  assert.match(front.healthcheck.test.join(" "), /http:\/\/127\.0\.0\.1:8080\/front-health/);
  assert.match(deployed("front/nginx.conf.template"), /location = \/front-health/);
});

test("images are pinned and built from files that are there", () => {
  for (const { build } of [stateApi, ingest, front]) {
    assert.ok(existsSync(join(FOLDER, build.context, build.dockerfile)), build.dockerfile);
  }
  for (const image of [ingestImage, frontImage]) {
    for (const [, name = ""] of image.matchAll(/^FROM (\S+)/gm)) {
      assert.match(name, /:\d+[\w.-]*$/, `${name} has a version`);
    }
    for (const [, source = ""] of image.matchAll(/^COPY (deploy\/\S+)/gm)) {
      const folder = source.replace(/\/[^/]*\*.*$/, "");
      assert.ok(existsSync(join(FOLDER, "../..", folder)), source);
    }
  }
  assert.match(ingestImage, /^FROM bluenviron\/mediamtx:1\.20\.1 AS mediamtx$/m);
});

test("MediaMTX starts the image's transcoder, and notifies it", () => {
  const ring = `curl -s -o /dev/null http://127.0.0.1:${imageVariable(ingestImage, "TRANSCODER_PORT")}`;
  const program = "dist/api/commands/livestream-transcoder.js";
  assert.deepEqual(mediaMtx.paths, {
    "~^live/[A-Za-z0-9_-]{1,64}$": { runOnReady: `${ring}/came`, runOnNotReady: `${ring}/gone` },
    _transcoder: {
      runOnInit: `node --enable-source-maps /parley/${program}`,
      runOnInitRestart: true,
    },
  });
  assert.ok(existsSync(join(packageRoot(), program)));
  assert.match(ingestImage, /^WORKDIR \/parley$/m);
  assert.match(ingestImage, /install .* ffmpeg curl /);
  assert.equal(imageVariable(ingestImage, "MTX_MOQ"), "false");
});

test("anyone may publish under a free key and watch, and only the transcoder may list the publishers", () => {
  const [anyone, own, ...others] = mediaMtx.authInternalUsers;
  assert.deepEqual(others, []);
  assert.deepEqual(
    anyone?.permissions.map(({ action }) => action),
    ["publish", "read"],
  );
  assert.deepEqual(own?.ips, ["127.0.0.1", "::1"]);
  assert.deepEqual(
    own.permissions.map(({ action }) => action),
    ["read", "api"],
  );
  assert.equal(
    mediaMtx.pathDefaults.overridePublisher,
    false,
    "a second publisher does not take over a live key",
  );
});

test("publishing keys are enabled for both services or for neither", () => {
  const [name = ""] = keysCompose.services["state-api"].secrets;
  assert.deepEqual(keysCompose.services.ingest.environment, {
    MTX_AUTHMETHOD: "http",
    MTX_PATHDEFAULTS_OVERRIDEPUBLISHER: "true",
  });
  assert.deepEqual(keysCompose.services["state-api"].environment, {
    PUBLISH_KEYS_FILE: `/run/secrets/${name}`,
  });
  assert.match(keysCompose.secrets[name]?.file ?? "", /^\$\{PUBLISH_KEYS_FILE:\?/);
});

test("the runbook names every setting of the compose files, with its default, and what they publish", () => {
  const runbook = deployed("RUNBOOK.md");
  const rows = new Map<string, string>();
  for (const [, names = "", values = ""] of runbook.matchAll(
    /^\| (`[A-Z_`, ]+`) \| ([^|]*) \|/gm,
  )) {
    const defaults = values.split("`, `");
    for (const [place, name] of names.split(", ").entries()) {
      rows.set(name.replaceAll("`", ""), (defaults[place] ?? "").replaceAll("`", "").trim());
    }
  }
  const texts = deployed("compose.yaml") + deployed("compose.keys.yaml");
  const used = new Map<string, string>();
  for (const [, name = "", value = ""] of texts.matchAll(/\$\{([A-Z_]+)(?::-|:\?)([^}]*)\}/g)) {
    used.set(name, name === "PUBLISH_KEYS_FILE" || value === "" ? "none" : value);
  }
  assert.deepEqual(Object.fromEntries(rows), Object.fromEntries(used));
  for (const port of ["1935", "8080", "8189/udp"]) assert.ok(runbook.includes(port), port);
});

/** Returns the error that the front proxy prints at its start with these settings; empty if it starts. */
function refusedStart(settings: Readonly<Record<string, string>>, keys: object = {}): string {
  const filled = Object.entries(front.environment).map(([name, text]) => [
    name,
    text.replace(/\$\{(\w+):-(\w*)\}/, (_, given, otherwise) => settings[given] ?? otherwise),
  ]);
  assert.match(
    frontImage,
    /^COPY \S+\/private-streams\.sh \/docker-entrypoint\.d\/\d+-[\w-]+\.sh$/m,
  );
  const env = { PATH: process.env["PATH"], ...Object.fromEntries(filled), ...keys };
  const script = join(FOLDER, "front/private-streams.sh");
  const { status, stderr } = spawnSync(script, { env, encoding: "utf8" });
  assert.equal(status, stderr === "" ? 0 : 1);
  return stderr;
}

test("the front proxy refuses to start if anyone could watch the private streams, and says why", () => {
  const keys = keysCompose.services.front.environment;
  const isPrivate = { PRIVATE_STREAMS: "board", VIEW_TOKEN_SECRET: "x".repeat(32) };
  assert.equal(refusedStart({}), "");
  assert.match(refusedStart(isPrivate), /set FRONT_VIEW_AUTH=\/view-auth too/);
  assert.match(refusedStart(isPrivate, keys), /set FRONT_VIEW_AUTH=\/view-auth too/);
  const checked = { ...isPrivate, FRONT_VIEW_AUTH: "/view-auth" };
  assert.match(refusedStart(checked), /add compose\.keys\.yaml/);
  assert.equal(refusedStart(checked, keys), "");
});
