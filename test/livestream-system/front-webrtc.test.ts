import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { FrontStand } from "./front-stand.js";
import { RecordingUpstream } from "./recording-upstream.js";

let front: FrontStand;

before(async () => {
  front = await FrontStand.start();
});
after(() => front.stop());

test("if the ingest is down, the response is a 503 that every site can read", async () => {
  const reply = await front.ask(
    "POST",
    "/whip/alpha",
    { "Content-Type": "application/sdp" },
    "v=0",
  );
  assert.equal(reply.status, 503);
  assert.equal(reply.headers.get("access-control-allow-origin"), "*");
  assert.match(reply.body, /the ingest does not answer/);
});

for (const prefix of ["", "http://ingest:8889"]) {
  test(`offers reach the ingest, and the session's address ${prefix}/... is returned as an address of this proxy`, async (context) => {
    const bodies: string[] = [];
    const ingest = await RecordingUpstream.start(context, front.webrtcPort, (request, response) => {
      let body = "";
      request.on("data", (chunk: Buffer) => {
        body += chunk.toString("utf8");
      });
      request.on("end", () => {
        bodies.push(body);
        const path = request.url?.replace(/\?.*/, "") ?? "";
        response.setHeader("Location", `${prefix}${path}/9b1deb4d-3b7d`);
        response.setHeader("Access-Control-Allow-Origin", "https://only.example");
        response.writeHead(201, { "Content-Type": "application/sdp" }).end("v=0 answer");
      });
    });
    const publish = await front.ask("POST", "/whip/alpha?secret=s", {}, "v=0 offer");
    assert.equal(publish.status, 201);
    assert.equal(publish.headers.get("location"), "/whip/alpha/9b1deb4d-3b7d");
    assert.equal(publish.headers.get("access-control-allow-origin"), "*");
    assert.match(publish.headers.get("access-control-expose-headers") ?? "", /Location/);
    const play = await front.ask("POST", "/whep/alpha", {}, "v=0 offer");
    assert.equal(play.headers.get("location"), "/whep/alpha/9b1deb4d-3b7d");
    await front.ask("PATCH", "/whip/alpha/9b1deb4d-3b7d", {}, "candidate");
    await front.ask("DELETE", "/whip/alpha/9b1deb4d-3b7d");
    assert.deepEqual(ingest.requests, [
      "POST /live/alpha/whip?secret=s",
      "POST /live/alpha/whep",
      "PATCH /live/alpha/whip/9b1deb4d-3b7d",
      "DELETE /live/alpha/whip/9b1deb4d-3b7d",
    ]);
    assert.deepEqual(bodies, ["v=0 offer", "v=0 offer", "candidate", ""]);
  });
}

test("no other path of the ingest can be reached", async (context) => {
  const ingest = await RecordingUpstream.start(context, front.webrtcPort, (_, response) => {
    response.end("reached");
  });
  for (const path of [
    "/whip",
    "/whip/",
    "/whip/alpha/",
    "/whip/alpha/../../v3/paths/list",
    "/whip/..%2f..%2fv3/paths/list",
    "/whip/al.pha",
    `/whip/${"k".repeat(65)}`,
    "/whip/alpha/session/more",
    "/live/alpha/whip",
    "/whep/alpha/%0d%0aX: y",
  ]) {
    const reply = await front.ask("POST", path, {}, "v=0");
    assert.ok([400, 404, 405].includes(reply.status), `${path}: ${reply.status}`);
  }
  assert.deepEqual(ingest.requests, []);
});

test("the proxy refuses an offer that is too large", async () => {
  const reply = await front
    .ask("POST", "/whip/alpha", {}, "v".repeat(300_000))
    .catch(() => undefined);
  assert.ok(reply === undefined || reply.status === 413);
});
