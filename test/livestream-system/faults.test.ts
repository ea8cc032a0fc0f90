import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Publisher } from "../../bench/livestream/publisher.js";
import { StackProcess } from "../../bench/livestream/stack-process.js";
import { ViewerBrowser, type ViewerPage } from "../../bench/livestream/viewer-browser.js";
import { eventually } from "../system/eventually.js";
import { untilBarsAreSeen } from "./colour-bars.js";
import { runningProcesses } from "./running-process.js";
import { listedStreams, untilGone, untilListed } from "./stream-list.js";

const KEY = "match";

let stack: StackProcess;
let browser: ViewerBrowser;
let viewer: ViewerPage;
let publisher: Publisher;

before(async () => {
  stack = await StackProcess.start({ HEARTBEAT_SECONDS: "2", LEASE_SECONDS: "6" });
  browser = await ViewerBrowser.start();
  publisher = new Publisher({ url: stack.rtmpUrl(KEY) });
  await untilListed(stack.frontUrl, KEY);
  viewer = await browser.open(`${stack.frontUrl}/#/${KEY}`);
  await viewer.untilPlaying();
});
after(async () => {
  await publisher.kill();
  await browser.stop();
  await stack.stop();
});

async function untilPlayedOn(seconds: number): Promise<void> {
  const { timeSec } = await viewer.playback();
  await eventually("the picture to go on", async () => {
    const later = await viewer.playback();
    return later.timeSec > timeSec + seconds || undefined;
  });
}

test("if the state API is killed, every site gets 503, playback continues, and the list is restored", async () => {
  const before = await untilListed(stack.frontUrl, KEY);
  process.kill(stack.pidOf("state API"), "SIGKILL");
  const refused = await eventually("the 503", async () => {
    const answer = await fetch(`${stack.frontUrl}/api/streams`);
    return answer.status === 503 ? answer : undefined;
  });
  assert.equal(refused.headers.get("access-control-allow-origin"), "*");
  assert.match(await refused.text(), /"error":"the list of live streams does not answer/);
  await untilPlayedOn(1);

  const learnt = await untilListed(stack.frontUrl, KEY);
  assert.equal(learnt.startedAt, before.startedAt);
  assert.equal(learnt.clientIp, before.clientIp);
  await viewer.untilText("#feed-state", /^Live updates$/);
  await viewer.page.getByRole("link", { name: /Match/ }).waitFor();
  await untilPlayedOn(1);
  await untilBarsAreSeen(viewer);
});

test("a page that cannot reach the list says so, keeps the last list, and recovers", async () => {
  await viewer.page.route("**/api/streams**", (route) =>
    route.fulfill({ status: 503, body: "{}" }),
  );
  process.kill(stack.pidOf("front proxy"), "SIGKILL");
  await viewer.page.getByRole("alert").waitFor();
  await viewer.untilText("#feed-state", /^Not reachable$/);
  assert.equal(await viewer.page.getByRole("link", { name: /Match/ }).isVisible(), true);
  await viewer.page.unroute("**/api/streams**");
  await viewer.untilText("#feed-state", /^Live updates$/);
  await viewer.page.getByRole("alert").waitFor({ state: "hidden" });
  await untilPlayedOn(1);
});

test("if the transcoder is killed, the stream stays listed with the same start, and the player continues by itself", async () => {
  const before = await untilListed(stack.frontUrl, KEY);
  const ladders = () =>
    runningProcesses().filter(
      ({ commandLine }) => commandLine.startsWith("ffmpeg") && commandLine.includes(hls),
    );
  const hls = join(await stack.folder(), "hls", KEY);
  const [killed] = ladders();
  assert.ok(killed !== undefined);
  process.kill(killed.id, "SIGKILL");
  await eventually("another transcoder", () => {
    const [ladder] = ladders();
    return (ladder !== undefined && ladder.id !== killed.id) || undefined;
  });
  await untilPlayedOn(4);
  const [stream] = await listedStreams(stack.frontUrl);
  assert.equal(stream?.startedAt, before.startedAt);
  await untilBarsAreSeen(viewer);
});

test("if the ingest is killed, the stream is unlisted, the ingest restarts, and the next broadcast plays", async () => {
  process.kill(stack.pidOf("ingest"), "SIGKILL");
  await untilGone(stack.frontUrl, KEY);
  await viewer.untilText("#stage-message", /^This stream has ended/);
  await publisher.kill();
  await eventually(
    "the ingest",
    () =>
      stack.lines.filter((line) => line.startsWith("[ingest] started")).length === 2 || undefined,
  );
  publisher = new Publisher({ url: stack.rtmpUrl(KEY), isMirrored: true });
  await untilListed(stack.frontUrl, KEY);
  await viewer.untilPlaying();
  await untilBarsAreSeen(viewer, true);
});
