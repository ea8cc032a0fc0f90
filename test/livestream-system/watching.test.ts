import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Publisher } from "../../bench/livestream/publisher.js";
import { StackProcess } from "../../bench/livestream/stack-process.js";
import { ViewerBrowser, type ViewerPage } from "../../bench/livestream/viewer-browser.js";
import { eventually } from "../system/eventually.js";
import { untilBarsAreSeen } from "./colour-bars.js";
import { listedStreams, untilGone, untilListed } from "./stream-list.js";

const KEY = "evening-news";
/** Between the end of the publisher and what a viewer sees; the browser is slower to look than the page to change. */
const GONE_MS_MAX = 2_000;

let stack: StackProcess;
let browser: ViewerBrowser;
let viewer: ViewerPage;
let publisher: Publisher;

before(async () => {
  stack = await StackProcess.start();
  browser = await ViewerBrowser.start();
  viewer = await browser.open(`${stack.frontUrl}/`);
});
after(async () => {
  await publisher.kill();
  await browser.stop();
  await stack.stop();
});

test("without a broadcaster the page says that nobody is live, and follows the events", async () => {
  await viewer.page.getByText("Nobody is live right now").waitFor();
  await viewer.untilText("#feed-state", /^Live updates$/);
  assert.deepEqual(await listedStreams(stack.frontUrl), []);
});

test("a broadcast is listed when all that it names can be fetched", async () => {
  publisher = new Publisher({ url: stack.rtmpUrl(KEY), size: "640x360" });
  const stream = await untilListed(stack.frontUrl, KEY);
  assert.equal(stream.masterPlaylistUrl, `/hls/${KEY}/master.m3u8`);
  assert.equal(stream.clientIp, "127.0.0.1");
  const master = await fetch(new URL(stream.masterPlaylistUrl, stack.frontUrl));
  assert.equal(master.headers.get("content-type"), "application/vnd.apple.mpegurl");
  assert.match(await master.text(), /RESOLUTION=640x360/);

  const described = await eventually("its qualities", async () => {
    const [first] = await listedStreams(stack.frontUrl);
    return first !== undefined && first.qualities.length > 0 ? first : undefined;
  });
  assert.deepEqual(
    described.qualities.map(({ name, width, height }) => [name, width, height]),
    [
      ["360p", 640, 360],
      ["240p", 426, 240],
    ],
  );
  for (const { url, bandwidth } of described.qualities) {
    assert.ok(bandwidth > 0);
    const playlist = await (await fetch(new URL(url, stack.frontUrl))).text();
    const [segment] = /^\S+\.ts$/m.exec(playlist) ?? [];
    assert.ok(segment !== undefined, playlist);
    const file = await fetch(new URL(segment, new URL(url, stack.frontUrl)));
    assert.equal(file.headers.get("content-type"), "video/mp2t");
    assert.ok((await file.arrayBuffer()).byteLength > 1_000);
  }
});

test("it appears on the page by itself, with its name", async () => {
  const card = viewer.page.getByRole("link", { name: /Evening news/ });
  await card.waitFor();
  assert.match((await card.textContent()) ?? "", /Live.*360p.*Evening news.*Started just now/);
  assert.equal(await viewer.page.getByText("Nobody is live right now").isVisible(), false);
});

test("it plays without sound at a click, and a decoded frame shows the broadcaster's picture", async () => {
  await viewer.page.getByRole("link", { name: /Evening news/ }).click();
  await viewer.untilPlaying();
  await untilBarsAreSeen(viewer);
  const { muted, paused, timeSec } = await viewer.playback();
  assert.deepEqual([muted, paused], [true, false]);
  await eventually("the picture to move on", async () => {
    const later = await viewer.playback();
    return later.timeSec > timeSec + 1 || undefined;
  });
  assert.equal(await viewer.page.title(), "Evening news – Parley Live");
});

test("list and player have nothing that moves for ever: it would have the whole page drawn sixty times a second", async () => {
  await viewer.untilPlaying();
  const endless = await viewer.page.evaluate(`document.getAnimations()
    .filter((animation) => animation.effect.getComputedTiming().endTime === Infinity)
    .map((animation) => animation.animationName)`);
  assert.deepEqual(endless, []);
});

test("a chosen quality is played, and the automatic choice can be had back", async () => {
  const menu = viewer.page.getByLabel("Picture quality");
  assert.deepEqual(
    (await menu.locator("option").allTextContents()).map((text) => text.replace(/ \(.*/, "")),
    ["Auto", "360p", "240p"],
  );
  await menu.selectOption({ label: "240p" });
  await eventually("the smaller picture", async () => {
    const { height } = await viewer.playback();
    return height === 240 || undefined;
  });
  await untilBarsAreSeen(viewer);
  await menu.selectOption({ index: 0 });
  await viewer.untilText("#quality option", /^Auto \(\d+p\)$/);
});

test("the sound is one click or one key away", async () => {
  await viewer.page.getByRole("button", { name: "Tap to unmute" }).click();
  assert.equal((await viewer.playback()).muted, false);
  await viewer.page.keyboard.press("m");
  assert.equal((await viewer.playback()).muted, true);
  await viewer.page.keyboard.press("k");
  assert.equal((await viewer.playback()).paused, true);
  await viewer.page.getByRole("button", { name: "Jump to live" }).click();
  assert.equal((await viewer.playback()).paused, false);
});

test("when the broadcaster leaves, list and page say so at once", async () => {
  const ended = viewer.untilText("#stage-message", /^This stream has ended/, GONE_MS_MAX);
  await publisher.kill();
  await Promise.all([ended, untilGone(stack.frontUrl, KEY, GONE_MS_MAX)]);
  await viewer.page.getByText("Nobody is live right now").waitFor({ timeout: GONE_MS_MAX });
  assert.equal(await viewer.page.getByRole("link", { name: /Evening news/ }).count(), 0);
});

test("when the broadcaster comes back, the page plays on by itself", async () => {
  publisher = new Publisher({ url: stack.rtmpUrl(KEY), size: "640x360", isMirrored: true });
  await viewer.untilPlaying();
  await untilBarsAreSeen(viewer, true);
  assert.deepEqual(viewer.faults, []);
});

test("the webhooks cannot be reached from outside", async () => {
  for (const path of ["/webhook/on-unpublish", "/api/webhook/on-unpublish"]) {
    const answer = await fetch(stack.frontUrl + path, {
      method: "POST",
      body: new URLSearchParams({ name: KEY, remoteAddr: "127.0.0.1" }),
    });
    assert.equal(answer.status, 404);
  }
  const streams = await listedStreams(stack.frontUrl);
  assert.deepEqual(
    streams.map(({ streamKey }) => streamKey),
    [KEY],
  );
});
