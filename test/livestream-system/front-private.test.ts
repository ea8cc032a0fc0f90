import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { issueViewToken } from "../../api/livestream/view-tokens.js";
import { StateApi } from "../api/livestream/state-api.js";
import { FrontStand } from "./front-stand.js";
import { RecordingUpstream } from "./recording-upstream.js";

const SECRET = "a secret of more than thirty-two characters";
const HOUR_MS = 3_600_000;
const FILES = ["master.m3u8", "720p/index.m3u8", "720p/1.ts", "thumbnail.jpg"];

let front: FrontStand;

before(async () => {
  front = await FrontStand.start({ areViewersChecked: true });
  for (const key of ["alpha", "open"]) for (const file of FILES) front.put(`${key}/${file}`, file);
});
after(() => front.stop());

test("a private stream is served only with its token, which is in the path of all requests", async (context) => {
  const api = await StateApi.start(context, {
    port: front.stateApiPort,
    privateStreams: ["alpha"],
    viewTokenSecret: SECRET,
  });
  const token = issueViewToken(SECRET, "alpha", api.clock.epochMs() + HOUR_MS);
  const statusOf = async (path: string) => (await front.ask("GET", path)).status;
  for (const file of FILES) {
    assert.equal(await statusOf(`/hls/alpha/${file}`), 403, file);
    assert.equal(await statusOf(`/hls/alpha/${file}?token=${token}`), 403, file);
    assert.equal(await statusOf(`/hls/~${token}/alpha/${file}`), 200, file);
    assert.equal(await statusOf(`/hls/open/${file}`), 200, file);
  }
  const segment = await front.ask("GET", `/hls/~${token}/alpha/720p/1.ts`);
  assert.equal(segment.headers.get("cache-control"), "private, max-age=3600");
  const playlist = await front.ask("GET", `/hls/~${token}/alpha/master.m3u8`);
  assert.equal(playlist.headers.get("cache-control"), "no-cache, no-store");
  assert.equal(playlist.headers.get("content-type"), "application/vnd.apple.mpegurl");
  const refused = await front.ask("GET", "/hls/alpha/master.m3u8");
  assert.equal(refused.headers.get("access-control-allow-origin"), "*");
  assert.equal(refused.headers.get("cache-control"), "no-cache, no-store");
  assert.match(refused.body, /this stream is private/);
  for (const path of ["/view-auth", "/hls/~x/alpha/master.m3u8", `/hls/~${token}/master.m3u8`]) {
    assert.equal(await statusOf(path), 404, path);
  }
  api.clock.advance(HOUR_MS);
  assert.equal(await statusOf(`/hls/~${token}/alpha/720p/1.ts`), 403, "it has expired");
});

test("WHEP of a private stream requires a token, and WHIP needs none", async (context) => {
  const settings = { port: front.stateApiPort, privateStreams: ["*"], viewTokenSecret: SECRET };
  const api = await StateApi.start(context, settings);
  const ingest = await RecordingUpstream.start(context, front.webrtcPort, (_, response) => {
    response.writeHead(201, { Location: "/live/alpha/whep/9b1deb4d" }).end("v=0 answer");
  });
  const token = issueViewToken(SECRET, "alpha", api.clock.epochMs() + HOUR_MS);
  assert.equal((await front.ask("POST", "/whep/alpha", {}, "v=0")).status, 403);
  const play = await front.ask("POST", `/whep/alpha?token=${token}`, {}, "v=0");
  assert.deepEqual([play.status, play.headers.get("location")], [201, "/whep/alpha/9b1deb4d"]);
  assert.equal((await front.ask("PATCH", "/whep/alpha/9b1deb4d", {}, "a=x")).status, 201);
  assert.equal((await front.ask("POST", "/whip/alpha", {}, "v=0")).status, 201);
  const bearer = await front.ask(
    "POST",
    "/whep/alpha",
    { Authorization: `Bearer ${token}` },
    "v=0",
  );
  assert.equal(bearer.status, 201);
  const other = { Authorization: "Basic YTpi" };
  assert.equal((await front.ask("POST", "/whep/alpha", other, "v=0")).status, 403);
  for (const path of ["/whep/alpha", "/whep/alpha/9b1deb4d", "/whip/alpha"]) {
    const preflight = await front.ask("OPTIONS", path, {
      Origin: "https://elsewhere.example",
      "Access-Control-Request-Method": "POST",
      "Access-Control-Request-Headers": "authorization,content-type",
    });
    assert.equal(preflight.status, 204, path);
    assert.equal(preflight.headers.get("access-control-allow-origin"), "*");
    assert.match(preflight.headers.get("access-control-allow-headers") ?? "", /Authorization/);
    assert.match(preflight.headers.get("access-control-allow-methods") ?? "", /POST/);
  }
  assert.deepEqual(ingest.requests, [
    `POST /live/alpha/whep?token=${token}`,
    "PATCH /live/alpha/whep/9b1deb4d",
    "POST /live/alpha/whip",
    "POST /live/alpha/whep",
  ]);
});

test("while the state API is unreachable, no private stream is served, and the response says so", async () => {
  for (const file of FILES) {
    const reply = await front.ask("GET", `/hls/alpha/${file}`);
    assert.equal(reply.status, 503, file);
    assert.match(reply.body, /does not answer/);
    assert.equal(reply.headers.get("cache-control")?.includes("no-store"), true);
  }
});
