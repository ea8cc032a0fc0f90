import assert from "node:assert/strict";
import type { IncomingMessage, ServerResponse } from "node:http";
import { after, before, type TestContext, test } from "node:test";
import * as v from "valibot";
import { ViewerBrowser, type ViewerPage } from "../../bench/livestream/viewer-browser.js";
import { barriers } from "../browser-system/axe.js";
import { FrontStand } from "./front-stand.js";
import { RecordingUpstream } from "./recording-upstream.js";

/** A camera with moving video, and a microphone that beeps. */
const FLAGS = ["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"];
const PHONE = { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true };

/** The receiving end of WebRTC, in a page of the same browser: answers an offer, and counts received packets. */
const RECEIVER = `globalThis.answerOffer = async (sdp) => {
  const connection = new RTCPeerConnection();
  globalThis.receiving = connection;
  await connection.setRemoteDescription({ type: "offer", sdp });
  await connection.setLocalDescription();
  while (connection.iceGatheringState !== "complete") {
    await new Promise((resolve) => connection.addEventListener("icegatheringstatechange", resolve, { once: true }));
  }
  return connection.localDescription.sdp;
}`;
const RECEIVED = `globalThis.receiving.getStats().then((stats) => [...stats.values()]
  .filter(({ type }) => type === "inbound-rtp")
  .map(({ kind, packetsReceived }) => kind + (packetsReceived > 20 ? " comes" : " waits")).sort())`;

let front: FrontStand;
let browser: ViewerBrowser;
before(async () => {
  front = await FrontStand.start();
  browser = await ViewerBrowser.start(FLAGS);
});
after(async () => {
  await browser.stop();
  await front.stop();
});

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = "";
  for await (const chunk of request) body += String(chunk);
  return body;
}

/** A WHIP endpoint whose WebRTC is in a page; records the offers. */
async function startIngest(context: TestContext) {
  const receiver = await browser.open("about:blank");
  await receiver.page.evaluate(RECEIVER);
  const offers: string[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const offer = await bodyOf(request);
    if (request.method !== "POST") return void response.writeHead(200).end();
    offers.push(offer);
    const sdp = await receiver.page.evaluate(`answerOffer(${JSON.stringify(offer)})`);
    const path = request.url?.replace(/\?.*/, "") ?? "";
    response.setHeader("location", `${path}/0a1b2c3d-session`);
    response.writeHead(201, { "content-type": "application/sdp" }).end(v.parse(v.string(), sdp));
  };
  const ingest = await RecordingUpstream.start(context, front.webrtcPort, (request, response) => {
    void answer(request, response);
  });
  return { receiver, ingest, offers };
}

async function openPage(context: TestContext, options = {}): Promise<ViewerPage> {
  const viewer = await browser.open(`${front.url}/go-live.html`, options);
  context.after(async () => {
    await viewer.close();
    assert.deepEqual(viewer.faults, []);
  });
  // The devices' names are known once they are open.
  await viewer.page.locator("#camera option").first().waitFor({ state: "attached" });
  return viewer;
}

test("a browser broadcasts camera and microphone over WHIP with H.264 preferred, shows a clock, and stops", async (context) => {
  const { receiver, ingest, offers } = await startIngest(context);
  const viewer = await openPage(context);
  const { page } = viewer;
  assert.deepEqual(await barriers(viewer), []);
  await page.getByLabel("Name of the stream").fill("evening-news");
  await page.getByLabel("Key").fill("s3cret&more");
  await page.getByRole("button", { name: "Go live" }).click();
  await viewer.untilText("#message", /^You are live\.$/);
  await viewer.untilText("#clock", /^0:0[1-9]$/);
  await receiver.page.waitForFunction(
    `${RECEIVED}.then((kinds) => kinds.join() === "audio comes,video comes")`,
  );
  assert.equal(await page.title(), "Live: Evening news – Parley Live");
  assert.equal(
    await page.getByText("Open the viewers’ page").getAttribute("href"),
    "/#/evening-news",
  );
  const [, videoFormats = ""] = /m=video \d+ \S+ (\d+)/.exec(offers[0] ?? "") ?? [];
  assert.match(offers[0] ?? "", new RegExp(`a=rtpmap:${videoFormats} (H264|VP8)/90000`));
  assert.deepEqual(await barriers(viewer), []);
  await page.getByRole("button", { name: "Stop" }).click();
  await viewer.untilText("#message", /^The broadcast has ended\.$/);
  await page.getByRole("button", { name: "Go live" }).waitFor();
  assert.deepEqual(ingest.requests, [
    "POST /live/evening-news/whip?secret=s3cret%26more",
    "DELETE /live/evening-news/whip/0a1b2c3d-session",
  ]);
});

test("a broadcast whose connection is lost reconnects by itself", async (context) => {
  const { receiver, offers } = await startIngest(context);
  const viewer = await openPage(context);
  await viewer.page.getByLabel("Name of the stream").fill("alpha");
  await viewer.page.getByRole("button", { name: "Go live" }).click();
  await viewer.untilText("#message", /^You are live\.$/);
  await receiver.page.evaluate("receiving.close()");
  await viewer.untilText("#message", /Reconnecting/);
  await viewer.untilText("#message", /^You are live\.$/);
  assert.equal(offers.length, 2);
});

test("the page explains an ingest without WebRTC, and one that refuses, and the form can be used again", async (context) => {
  const viewer = await openPage(context, PHONE);
  const { page } = viewer;
  await page.getByLabel("Name of the stream").fill("alpha");
  await page.getByRole("button", { name: "Go live" }).click();
  await viewer.untilText("#message", /accepts no broadcasts from browsers now/);
  await RecordingUpstream.start(context, front.webrtcPort, (_, response) => {
    response.writeHead(401).end();
  });
  await page.getByRole("button", { name: "Go live" }).click();
  await viewer.untilText("#message", /refused this broadcast: check the name and the key/);
  assert.equal(await page.getByLabel("Name of the stream").isEnabled(), true);
  assert.deepEqual(await barriers(viewer), []);
});

test("only the broadcasting page may ask for a camera", async () => {
  const policy = async (path: string) =>
    (await front.ask("GET", path)).headers.get("permissions-policy");
  assert.match((await policy("/go-live.html")) ?? "", /camera=\(self\)/);
  assert.match((await policy("/")) ?? "", /camera=\(\)/);
  assert.match((await policy("/hls/alpha/master.m3u8")) ?? "", /camera=\(\)/);
});
