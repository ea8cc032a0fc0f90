import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { after, before, beforeEach, type TestContext, test } from "node:test";
import { ViewerBrowser, type ViewerPage } from "../../bench/livestream/viewer-browser.js";
import { FrontStand } from "./front-stand.js";
import { RecordingUpstream } from "./recording-upstream.js";

const PHONE = { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true };

/** A white pixel. */
const PICTURE = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4////fwAJ+wP9CNHoHgAAAABJRU5ErkJggg==",
  "base64",
);

/** Returns the cards whose badge or quality overlaps the name or is outside the picture. */
const COLLISIONS = `[...document.querySelectorAll(".card")].filter((card) => {
  const box = (selector) => card.querySelector(selector).getBoundingClientRect();
  const title = box(".card-title");
  const poster = box(".poster");
  return [box(".badge"), box(".chip")].some((mark) =>
    mark.right > poster.right || mark.bottom > poster.bottom ||
    (mark.right > title.left && mark.left < title.right && mark.bottom > title.top && mark.top < title.bottom));
}).map((card) => card.textContent)`;

let front: FrontStand;
let browser: ViewerBrowser;
/** The list's response; undefined for a 500. */
let streams: readonly unknown[] | undefined;
let hasEvents: boolean;
let listeners: ServerResponse[];

before(async () => {
  front = await FrontStand.start();
  browser = await ViewerBrowser.start();
});
after(async () => {
  await browser.stop();
  await front.stop();
});
beforeEach(() => {
  streams = [];
  hasEvents = true;
  listeners = [];
});

function session(streamKey: string, startedSec = 0): object {
  return {
    streamKey,
    startedAt: new Date(1_700_000_000_000 + startedSec * 1_000).toISOString(),
    clientIp: "192.0.2.1",
    masterPlaylistUrl: `/hls/${streamKey}/master.m3u8`,
    qualities: [{ name: "720p", width: 1_280, height: 720, bandwidth: 1, url: "/hls/a" }],
  };
}

/** A state API whose responses the test determines. */
async function startStateApi(context: TestContext): Promise<RecordingUpstream> {
  return RecordingUpstream.start(context, front.stateApiPort, (request, response) => {
    const list = { count: streams?.length, streams };
    if (streams === undefined || (request.url === "/streams/events" && !hasEvents)) {
      response.writeHead(500, { "Content-Type": "application/json" }).end(`{"error":"internal"}`);
    } else if (request.url === "/streams/events") {
      response.writeHead(200, { "Content-Type": "text/event-stream" });
      response.write(`event: snapshot\ndata: ${JSON.stringify(list)}\n\n`);
      listeners.push(response);
    } else {
      response.writeHead(200, { "Content-Type": "application/json" });
      response.end(JSON.stringify({ success: true, data: list }));
    }
  });
}

function tell(name: string, data: unknown): void {
  for (const listener of listeners) {
    listener.write(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
  }
}

async function open(context: TestContext, path = "/", options = {}): Promise<ViewerPage> {
  const viewer = await browser.open(front.url + path, options);
  context.after(async () => {
    await viewer.close();
    assert.deepEqual(viewer.faults, []);
  });
  return viewer;
}

function titlesOf({ page }: ViewerPage): Promise<readonly string[]> {
  return page.locator(".card-title").allTextContents();
}

test("events add, change and remove streams, in the order of their start", async (context) => {
  await startStateApi(context);
  const viewer = await open(context);
  await viewer.page.getByText("Nobody is live right now").waitFor();
  tell("added", session("late", 20));
  tell("added", session("early", 10));
  await viewer.untilText("#count", /^2 live streams$/);
  assert.deepEqual(await titlesOf(viewer), ["Early", "Late"]);
  await viewer.untilText("#news", /Early is live/);
  tell("added", { streamKey: "<img src=x onerror=alert(1)>" });
  tell("replaced", session("early", 30));
  tell("removed", { streamKey: "late" });
  await viewer.untilText("#count", /^1 live stream$/);
  assert.deepEqual(await titlesOf(viewer), ["Early"]);
  await viewer.untilText("#news", /Late has ended/);
});

test("viewers are counted in the list and next to the player, and pictures are refreshed in place", async (context) => {
  front.put("alpha/thumbnail.jpg", PICTURE);
  streams = [{ ...session("alpha"), thumbnailUrl: "/hls/alpha/thumbnail.jpg", viewers: 1 }];
  await startStateApi(context);
  const viewer = await open(context, "/#/alpha");
  await viewer.untilText(".card .viewers", /^1 viewer$/);
  const picture = viewer.page.locator(".card .poster img");
  await picture.evaluate("(image) => image.decode()");
  await viewer.page.evaluate("document.querySelector('.card').marked = true");
  tell("viewers", { alpha: 1_234, unknown: 3 });
  await viewer.untilText(".card .viewers", /^1,234 viewers$/);
  await viewer.untilText("#watch-facts", /^720p · 1,234 viewers$/);
  await viewer.untilText("#watch-clock", /^\d+:\d\d:\d\d$/);
  tell("viewers", { alpha: 0 });
  await viewer.untilText(".card .viewers", /^$/);
  assert.equal(await viewer.page.evaluate("document.querySelector('.card').marked"), true);
  // Only visible pictures are refreshed.
  await picture.scrollIntoViewIfNeeded();
  await viewer.page.locator(".card .poster img[src*='?at=']").waitFor();
  await picture.evaluate("(image) => image.decode()");
});

test("without events the list is polled", async (context) => {
  hasEvents = false;
  await startStateApi(context);
  const viewer = await open(context);
  await viewer.untilText("#feed-state", /^Updated every 3 s$/);
  await viewer.page.getByText("Nobody is live right now").waitFor();
  streams = [session("alpha")];
  await viewer.page.getByRole("link", { name: /Alpha/ }).waitFor();
  streams = [];
  await viewer.page.getByRole("link", { name: /Alpha/ }).waitFor({ state: "detached" });
  hasEvents = true;
  await viewer.untilText("#feed-state", /^Live updates$/);
});

test("a page that is opened while the list is down says so, and recovers", async (context) => {
  const viewer = await open(context);
  await viewer.page.getByRole("alert").waitFor();
  assert.match(
    (await viewer.page.getByRole("alert").textContent()) ?? "",
    /cannot be reached.*what is playing goes on/s,
  );
  assert.equal(await viewer.page.getByText("Nobody is live right now").isVisible(), false);
  streams = [session("alpha")];
  await startStateApi(context);
  await viewer.page.getByRole("link", { name: /Alpha/ }).waitFor();
  await viewer.page.getByRole("alert").waitFor({ state: "hidden" });
});

test("everything can be done with the keyboard, and the focus moves as expected", async (context) => {
  streams = [session("alpha"), session("beta", 1)];
  await startStateApi(context);
  const viewer = await open(context);
  const { page } = viewer;
  await page.getByRole("link", { name: /Beta/ }).waitFor();
  const focused = () => page.evaluate("document.activeElement.textContent.trim()");
  await page.keyboard.press("Tab");
  assert.equal(await focused(), "Skip to the streams");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  assert.match(String(await focused()), /Alpha/);
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.locator("#watch-title").waitFor();
  assert.equal(await focused(), "Beta");
  const current = page.locator("[aria-current=true]");
  assert.match((await current.textContent()) ?? "", /Beta.*Watching/);
  await page.getByRole("link", { name: "Close the player" }).press("Enter");
  await page.locator("#watch").waitFor({ state: "hidden" });
  assert.match(String(await focused()), /Beta/);
});

test("every control has a name, and every decorative picture has none", async (context) => {
  streams = [session("alpha")];
  await startStateApi(context);
  const { page } = await open(context, "/#/alpha");
  await page.getByRole("link", { name: /Alpha/ }).waitFor();
  const nameless =
    await page.evaluate(`[...document.querySelectorAll("button, select, input, a, video")]
    .filter((element) => !(element.getAttribute("aria-label") ?? element.textContent).trim())
    .map((element) => element.outerHTML)`);
  assert.deepEqual(nameless, []);
  assert.equal(await page.locator("img:not([alt]), svg:not([aria-hidden])").count(), 0);
  assert.equal(await page.locator("h1").count(), 1);
  for (const role of ["main", "banner", "region"] as const) {
    assert.ok((await page.getByRole(role).count()) > 0, role);
  }
});

for (const colorScheme of ["light", "dark"] as const) {
  test(`a phone in ${colorScheme} colours shows everything within its width`, async (context) => {
    const long = "a-very-long-stream-key-that-somebody-has-chosen-without-thinking";
    streams = [session(long), session("b".repeat(64), 1)];
    await startStateApi(context);
    const { page } = await open(context, `/#/${long}`, { ...PHONE, colorScheme });
    await page.getByRole("link", { name: /A very long/ }).waitFor();
    const overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
    assert.equal(await page.evaluate(overflow), 0);
    assert.deepEqual(await page.evaluate(COLLISIONS), []);
    const dark = await page.evaluate("getComputedStyle(document.body).backgroundColor");
    assert.equal(dark, colorScheme === "dark" ? "rgb(15, 15, 19)" : "rgb(246, 246, 248)");
  });
}

test("on a screen of 1280x800 the stage has the video's aspect ratio, and is completely visible", async (context) => {
  streams = [session("alpha")];
  await startStateApi(context);
  const { page } = await open(context, "/#/alpha", { viewport: { width: 1_280, height: 800 } });
  const stage = await page.locator("#stage").boundingBox();
  assert.ok(stage !== null);
  assert.ok(Math.abs(stage.width - (stage.height * 16) / 9) < 1, JSON.stringify(stage));
  assert.ok(
    stage.width > 1_000 && stage.y >= 0 && stage.y + stage.height <= 800,
    JSON.stringify(stage),
  );
});

test("the address of a stream that is not live waits for it, and one without a valid key shows the list", async (context) => {
  await startStateApi(context);
  const waiting = await open(context, "/#/later");
  await waiting.untilText("#stage-message", /^This stream is not live/);
  const strange = await open(context, "/#/%3Cscript%3E");
  await strange.page.getByText("Nobody is live right now").waitFor();
  assert.equal(await strange.page.locator("#watch").isVisible(), false);
});

test("of very many streams, some are shown and the others only counted", async (context) => {
  streams = Array.from({ length: 1_000 }, (_, place) => session(`cam-${place}`, place));
  await startStateApi(context);
  const viewer = await open(context);
  await viewer.untilText("#count", /^1000 live streams$/);
  assert.equal((await titlesOf(viewer)).length, 200);
  await viewer.page.getByText("and 800 more").waitFor();
});

test("a link whose token is refused says so, and is not retried", async (context) => {
  streams = [{ ...session("alpha"), private: true }];
  await startStateApi(context);
  const viewer = await open(context);
  const token = `1700000000-${"A".repeat(43)}`;
  let refusals = 0;
  await viewer.page.route(`**/hls/~${token}/**`, (route) => {
    refusals += 1;
    return route.fulfill({ status: 403, json: { success: false, error: "too old" } });
  });
  for (const opened of [1, 2]) {
    await viewer.page.evaluate(`location.hash = "#/alpha/${token}"`);
    await viewer.untilText("#stage-message", /^This link is invalid or has expired/);
    assert.equal(refusals, opened, "requested once each time that it is opened");
    await viewer.page.evaluate('location.hash = "#/"');
    await viewer.page.locator("#watch").waitFor({ state: "hidden" });
  }
});

test("a missing playlist is requested again while the stream is live", async (context) => {
  streams = [session("alpha")];
  await startStateApi(context);
  const viewer = await open(context, "/#/alpha");
  await viewer.untilText("#stage-message", /Reconnecting/);
  tell("removed", { streamKey: "alpha" });
  await viewer.untilText("#stage-message", /^This stream has ended/);
});
