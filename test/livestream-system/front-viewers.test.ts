import assert from "node:assert/strict";
import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { after, before, beforeEach, type TestContext, test } from "node:test";
import { eventually } from "../system/eventually.js";
import { FrontStand } from "./front-stand.js";
import { RecordingUpstream } from "./recording-upstream.js";

interface View {
  readonly form: Readonly<Record<string, string>>;
  readonly headers: IncomingMessage["headers"];
}

let front: FrontStand;
let views: View[];

before(async () => {
  front = await FrontStand.start();
  front.put("alpha/master.m3u8", "#EXTM3U\n");
  front.put("alpha/720p/index.m3u8", "#EXTM3U\n");
  front.put("alpha/720p/1.ts", "segment");
});
after(() => front.stop());
beforeEach(() => {
  views = [];
});

async function noteView(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const form = Object.fromEntries(new URLSearchParams(await text(request)));
  views.push({ form, headers: request.headers });
  response.end("{}");
}

function startStateApi(context: TestContext): Promise<RecordingUpstream> {
  const answer = (request: IncomingMessage, response: ServerResponse) =>
    void noteView(request, response);
  return RecordingUpstream.start(context, front.stateApiPort, answer);
}

function firstViews(count: number): Promise<readonly View[]> {
  return eventually(`${count} views`, () => (views.length >= count ? views : undefined));
}

test("the state API learns at a limited rate which viewers request playlists, and nothing else of their requests", async (context) => {
  const api = await startStateApi(context);
  const headers = { "User-Agent": "VLC", Cookie: "a=b", Origin: "https://elsewhere.example" };
  for (const path of ["master.m3u8", "720p/index.m3u8", "720p/index.m3u8", "720p/1.ts"]) {
    const reply = await front.ask("GET", `/hls/alpha/${path}`, headers);
    assert.equal(reply.status, 200, path);
  }
  await front.ask("GET", "/hls/alpha/master.m3u8?viewer=0123456789ab", headers);
  await front.ask("GET", "/hls/alpha/master.m3u8?viewer=a%26name=evil", headers);
  await front.ask("GET", "/hls/alpha/master.m3u8", { "User-Agent": "another" });
  const told = await firstViews(3);
  assert.deepEqual(api.requests, Array(3).fill("POST /webhook/on-view"));
  const [first, named, another] = told;
  const remoteAddr = "127.0.0.1";
  assert.deepEqual(first?.form, { name: "alpha", remoteAddr, viewer: "" });
  assert.deepEqual(named?.form, { name: "alpha", remoteAddr, viewer: "0123456789ab" });
  assert.equal(first.headers["user-agent"], "VLC");
  assert.equal(another?.headers["user-agent"], "another");
  assert.deepEqual([first.headers.cookie, first.headers.origin], [undefined, undefined]);
});

test("a playlist has its headers whichever proxy reports viewers, and outsiders cannot report any", async (context) => {
  const api = await startStateApi(context);
  const reply = await front.ask("GET", "/hls/alpha/master.m3u8?viewer=counted-1");
  await firstViews(1);
  assert.equal(reply.headers.get("content-type"), "application/vnd.apple.mpegurl");
  assert.equal(reply.headers.get("cache-control"), "no-cache, no-store");
  assert.equal(reply.headers.get("access-control-allow-origin"), "*");
  for (const path of ["/hls-viewer", "/api/webhook/on-view", "/webhook/on-view"]) {
    assert.equal((await front.ask("GET", path)).status, 404, path);
  }
  assert.equal(api.requests.length, 1);
});

test("playback continues while the state API hangs or is down", async (context) => {
  assert.equal((await front.ask("GET", "/hls/alpha/master.m3u8?viewer=is-down-1")).status, 200);
  const hung: ServerResponse[] = [];
  await RecordingUpstream.start(context, front.stateApiPort, (_, response) => {
    hung.push(response);
  });
  const reply = await front.ask("GET", "/hls/alpha/master.m3u8?viewer=it-hangs-1");
  assert.deepEqual([reply.status, reply.body], [200, "#EXTM3U\n"]);
  await eventually("the state API to be asked", () => hung.length === 1 || undefined);
});
