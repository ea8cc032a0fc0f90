import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Publisher } from "../../bench/livestream/publisher.js";
import { StackProcess } from "../../bench/livestream/stack-process.js";
import { ViewerBrowser, type ViewerPage } from "../../bench/livestream/viewer-browser.js";
import { eventually } from "../system/eventually.js";
import { untilBarsAreSeen } from "./colour-bars.js";
import { listedStreams, untilGone, untilListed } from "./stream-list.js";

const KEY = "evening-news";
/** The time from the publisher's end until a viewer sees it, on a busy machine: far less than the lease. */
const GONE_MS_MAX = 10_000;

let stack: StackProcess;
let browser: ViewerBrowser;
let viewer: ViewerPage;
let publisher: Publisher;
/** The page's failed requests. */
const refused: string[] = [];

before(async () => {
  stack = await StackProcess.start();
  browser = await ViewerBrowser.start();
  viewer = await browser.prepare();
  viewer.page.on("response", (response) => {
    if (response.status() >= 400) refused.push(`${response.status()} ${response.url()}`);
  });
  await viewer.page.goto(`${stack.frontUrl}/`);
});
after(async () => {
  await publisher.kill();
  await browser.stop();
  await stack.stop();
});

test("without a broadcaster the page says that no stream is live, and follows the events", async () => {
  await viewer.page.getByText("Nobody is live right now").waitFor();
  await viewer.untilText("#feed-state", /^Live updates$/);
  assert.deepEqual(await listedStreams(stack.frontUrl), []);
});

test("a broadcast is listed once every file that it names can be fetched", async () => {
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

test("the broadcast appears on the page by itself, with its name", async () => {
  // Its qualities are reported a moment after its start.
  await viewer.page
    .getByRole("link")
    .filter({ hasText: /Live.*360p.*Evening news.*Started just now/ })
    .waitFor();
  assert.equal(await viewer.page.getByText("Nobody is live right now").isVisible(), false);
});

test("the broadcast plays muted after a click, and a decoded frame shows the broadcaster's video", async () => {
  await viewer.page.getByRole("link", { name: /Evening news/ }).click();
  await viewer.untilPlaying();
  await untilBarsAreSeen(viewer);
  assert.deepEqual(refused, []);
  const { muted, paused, timeSec } = await viewer.playback();
  assert.deepEqual([muted, paused], [true, false]);
  await eventually("the picture to move on", async () => {
    const later = await viewer.playback();
    return later.timeSec > timeSec + 1 || undefined;
  });
  assert.equal(await viewer.page.title(), "Evening news – Parley Live");
});

test("list and player have no endless animation: it would redraw the whole page sixty times a second", async () => {
  await viewer.untilPlaying();
  const endless = await viewer.page.evaluate(`document.getAnimations()
    .filter((animation) => animation.effect.getComputedTiming().endTime === Infinity)
    .map((animation) => animation.animationName)`);
  assert.deepEqual(endless, []);
});

/**
 * Makes playback fall behind the live position until the player speeds up; repeats that if a busy machine is late by
 * itself.
 */
async function untilItHurries(): Promise<void> {
  await viewer.page.evaluate(`new Promise((resolve) => {
    const video = document.querySelector("#video");
    let looks = 0;
    const look = () => {
      if (video.playbackRate > 1) {
        video.removeEventListener("timeupdate", look);
        resolve();
      } else if (looks++ % 12 === 0) {
        document.querySelector("#to-live").click();
        video.currentTime -= 1.5;
      }
    };
    video.addEventListener("timeupdate", look);
  })`);
}

/** Resolves when the player's rate is that of real time, checked at each change of its time. */
async function untilItDoesNotHurry(): Promise<void> {
  await viewer.page.evaluate(`new Promise((resolve) => {
    const video = document.querySelector("#video");
    const look = () => {
      if (video.playbackRate > 1) return;
      video.removeEventListener("timeupdate", look);
      resolve();
    };
    video.addEventListener("timeupdate", look);
  })`);
}

/**
 * Makes the browser report this many dropped frames of each thirty; the real number depends on the machine's other
 * load.
 */
async function sayDropped(count: number): Promise<void> {
  await viewer.page.evaluate(`{
    const video = document.querySelector("#video");
    const said = { totalVideoFrames: 0, droppedVideoFrames: 0 };
    video.getVideoPlaybackQuality = () => {
      said.totalVideoFrames += 30;
      said.droppedVideoFrames += ${count};
      return said;
    };
  }`);
}

test("a player that has fallen behind plays slightly faster, but not on a machine that does not keep up", async () => {
  const { page } = viewer;
  const lagSec = async () =>
    Number(
      await page.evaluate(
        'performance.now() / 1_000 - document.querySelector("#video").currentTime',
      ),
    );
  await sayDropped(0);
  await untilItHurries();
  const before = await lagSec();
  await sayDropped(15);
  await untilItDoesNotHurry();
  // At a rate of 1.1, catching up would have taken 15 s and the whole delay of 1.5 s.
  assert.ok((await lagSec()) > before - 0.75);
});

test("a chosen quality is played, and the automatic choice can be restored", async () => {
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

test("one click or one key turns the sound on", async () => {
  await viewer.page.getByRole("button", { name: "Tap to unmute" }).click();
  assert.equal((await viewer.playback()).muted, false);
  await viewer.page.keyboard.press("m");
  assert.equal((await viewer.playback()).muted, true);
  await viewer.page.keyboard.press("k");
  assert.equal((await viewer.playback()).paused, true);
  await viewer.page.getByRole("button", { name: "Jump to live" }).click();
  assert.equal((await viewer.playback()).paused, false);
});

test("on an iPhone, where only a video can fill the screen, the video does", async () => {
  const { page } = viewer;
  const button = page.getByRole("button", { name: "Full screen" });
  await page.evaluate(`{
    Object.defineProperty(document, "fullscreenEnabled", { value: false, configurable: true });
    const video = document.querySelector("#video");
    void (globalThis.filled = new Promise((resolve) => (video.webkitEnterFullscreen = resolve)));
  }`);
  await button.click();
  await page.evaluate("filled");
  await page.evaluate("delete document.fullscreenEnabled");
  assert.deepEqual(viewer.faults, []);
});

test("when the broadcaster leaves, list and page say so at once", async () => {
  const ended = viewer.untilText("#stage-message", /^This stream has ended/, GONE_MS_MAX);
  await publisher.kill();
  await Promise.all([ended, untilGone(stack.frontUrl, KEY, GONE_MS_MAX)]);
  await viewer.page.getByText("Nobody is live right now").waitFor({ timeout: GONE_MS_MAX });
  assert.equal(await viewer.page.getByRole("link", { name: /Evening news/ }).count(), 0);
});

test("when the broadcaster returns, the page continues by itself", async () => {
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
