import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { type TestContext, test } from "node:test";
import { MediaMtxPaths } from "../../../../api/livestream/transcoder/mediamtx-paths.js";

/** A control API that answers with these bodies, by path; all else is not found, as MediaMTX says of a connection that has gone. */
async function controlApi(
  t: TestContext,
  bodies: Readonly<Record<string, object>>,
): Promise<MediaMtxPaths> {
  const server = createServer(({ url = "" }, response) => {
    const body = bodies[url.replace(/\?.*$/, "")];
    response.statusCode = body === undefined ? 404 : 200;
    response.end(JSON.stringify(body ?? { error: "not found" }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port was given");
  return new MediaMtxPaths(`http://127.0.0.1:${address.port}`);
}

/** A path with the fields that v1.20 documents, those that it calls deprecated left out. */
function path(name: string, source: object | null, more: object = {}): object {
  return {
    name,
    confName: "~^live/[A-Za-z0-9_-]{1,64}$",
    available: source !== null,
    availableTime: source === null ? null : "2026-11-22T12:00:00Z",
    online: source !== null,
    source,
    tracks2: [],
    readers: [{ type: "rtspSession", id: "11111111-0000-4000-8000-000000000001" }],
    inboundBytes: 1,
    ...more,
  };
}

const PICTURE = { codec: "H264", codecProps: { width: 1280, height: 720, profile: "High" } };

test("every publisher is reported with the address of its kind of connection", async (t) => {
  const paths = await controlApi(t, {
    "/v3/paths/list": {
      itemCount: 5,
      pageCount: 1,
      items: [
        path("_transcoder", null),
        path("live/obs", { type: "rtmpConn", id: "a" }, { tracks2: [PICTURE] }),
        path("live/browser", { type: "webRTCSession", id: "b" }, { tracks2: [{ codec: "Opus" }] }),
        path("live/camera", { type: "srtConn", id: "c" }),
        path("live/gone", { type: "rtspSession", id: "d" }),
      ],
    },
    "/v3/rtmpconns/get/a": { remoteAddr: "192.0.2.1:50000" },
    "/v3/webrtcsessions/get/b": { remoteAddr: "[2001:db8::2]:50000" },
    "/v3/srtconns/get/c": { remoteAddr: "192.0.2.3:50000" },
  });
  const published = await paths.published();
  assert.deepEqual(
    published.map(({ streamKey, session, clientIp }) => [streamKey, session, clientIp]),
    [
      ["obs", "a", "192.0.2.1"],
      ["browser", "b", "2001:db8::2"],
      ["camera", "c", "192.0.2.3"],
      ["gone", "d", undefined],
    ],
  );
  assert.deepEqual(published[0]?.tracks.video, { codec: "h264", width: 1280, height: 720 });
  assert.equal(published[1]?.tracks.audioCodec, "opus");
});

test("no publishers: not available yet, by either name, another application, or no key", async (t) => {
  const source = { type: "rtmpConn", id: "a" };
  const paths = await controlApi(t, {
    "/v3/paths/list": {
      items: [
        path("live/soon", source, { available: false, online: false }),
        path("live/older", source, { ready: false, available: undefined }),
        path("other/demo", source),
        path("live/a.b", source),
        path("live/redirected", { type: "redirect", id: "" }),
      ],
    },
  });
  assert.deepEqual(await paths.published(), []);
});
