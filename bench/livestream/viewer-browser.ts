import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import * as v from "valibot";
import { CLOCK_BAR_SHARE, CLOCK_PERIOD_MS } from "./publisher.js";

const CHROMIUM = "/usr/bin/chromium";
const WAIT_MAX_MS = 20_000;
/** Without these it looks for its maker's servers at every start. */
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

const Color = v.tuple([v.number(), v.number(), v.number()]);
export type Rgb = v.InferOutput<typeof Color>;

const Playback = v.object({
  state: v.string(),
  timeSec: v.number(),
  width: v.number(),
  height: v.number(),
  muted: v.boolean(),
  paused: v.boolean(),
});
export type Playback = v.InferOutput<typeof Playback>;

const PLAYBACK = `(() => {
  const video = document.querySelector("#video");
  const { currentTime, videoWidth, videoHeight, muted, paused } = video;
  const state = document.querySelector("#stage").dataset.state;
  return { state, timeSec: currentTime, width: videoWidth, height: videoHeight, muted, paused };
})()`;

/** Decoded pixels, in the middle of each of the seven bars, in the upper half of the picture. */
const BARS = `(() => {
  const video = document.querySelector("#video");
  const canvas = document.createElement("canvas");
  canvas.width = video.videoWidth;
  canvas.height = video.videoHeight;
  const drawing = canvas.getContext("2d");
  drawing.drawImage(video, 0, 0);
  return [0, 1, 2, 3, 4, 5, 6].map((bar) => {
    const x = Math.floor(((bar + 0.5) / 7) * canvas.width);
    const [red, green, blue] = drawing.getImageData(x, Math.floor(canvas.height / 4), 1, 1).data;
    return [red, green, blue];
  });
})()`;

/** The place of the publisher's clock as it is shown now, 0 to 1 from left to right, and the time of day; -1: no bar. */
const CLOCK = `(() => {
  const video = document.querySelector("#video");
  const canvas = document.createElement("canvas");
  canvas.width = video.videoWidth;
  canvas.height = 1;
  const drawing = canvas.getContext("2d");
  drawing.drawImage(video, 0, video.videoHeight / 2, canvas.width, 1, 0, 0, canvas.width, 1);
  const { data } = drawing.getImageData(0, 0, canvas.width, 1);
  const place = Array.from({ length: canvas.width }, (_, x) => data[x * 4]).findIndex((red) => red > 128);
  return { place: place < 0 ? -1 : place / canvas.width, epochMs: Date.now() };
})()`;
const Clock = v.object({ place: v.number(), epochMs: v.number() });

/** A page in headless Chromium, with flags of one's own beside those that every test needs. */
export class ViewerBrowser {
  readonly #browser: Browser;

  static async start(flags: readonly string[] = []): Promise<ViewerBrowser> {
    return new ViewerBrowser(
      await chromium.launch({ executablePath: CHROMIUM, args: [...FLAGS, ...flags] }),
    );
  }

  private constructor(browser: Browser) {
    this.#browser = browser;
  }

  async open(url: string, options: BrowserContextOptions = {}): Promise<ViewerPage> {
    const viewer = await this.prepare(options);
    await viewer.page.goto(url);
    return viewer;
  }

  /** A page on which nothing is open yet. */
  async prepare(options: BrowserContextOptions = {}): Promise<ViewerPage> {
    const context = await this.#browser.newContext(options);
    return new ViewerPage(await context.newPage());
  }

  async closePages(): Promise<void> {
    await Promise.all(this.#browser.contexts().map((context) => context.close()));
  }

  async stop(): Promise<void> {
    await this.#browser.close();
  }
}

export class ViewerPage {
  readonly page: Page;
  /** Faults of the page's own script, and what its content policy refused. */
  readonly faults: string[] = [];

  constructor(page: Page) {
    this.page = page;
    page.on("pageerror", (error) => this.faults.push(error.message));
    page.on("console", (message) => {
      if (/Content Security Policy/i.test(message.text())) this.faults.push(message.text());
    });
  }

  async playback(): Promise<Playback> {
    return v.parse(Playback, await this.page.evaluate(PLAYBACK));
  }

  async bars(): Promise<readonly Rgb[]> {
    return v.parse(v.array(Color), await this.page.evaluate(BARS));
  }

  /** How old the picture is that is shown now, by the publisher's clock; undefined while there is none. */
  async pictureAgeMs(): Promise<number | undefined> {
    const { place, epochMs } = v.parse(Clock, await this.page.evaluate(CLOCK));
    if (place < 0) return undefined;
    const shownMs = (place / (1 - CLOCK_BAR_SHARE)) * CLOCK_PERIOD_MS;
    return (epochMs - shownMs + CLOCK_PERIOD_MS) % CLOCK_PERIOD_MS;
  }

  async untilPlaying(timeoutMs = WAIT_MAX_MS): Promise<void> {
    await this.page.locator(`#stage[data-state="playing"]`).waitFor({ timeout: timeoutMs });
  }

  async untilText(selector: string, text: RegExp, timeoutMs = WAIT_MAX_MS): Promise<void> {
    const element = this.page.locator(selector).filter({ hasText: text });
    await element.first().waitFor({ state: "attached", timeout: timeoutMs });
  }

  async close(): Promise<void> {
    await this.page.context().close();
  }
}
