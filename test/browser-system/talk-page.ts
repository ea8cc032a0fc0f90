import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { ViewerBrowser, ViewerPage } from "../../bench/livestream/viewer-browser.js";
import { ToneDecoder } from "../../engine/sandbox/telephone/tone-code.js";
import { readPages } from "../docs/pages.js";
import { type AwaitedWords, awaitedWords } from "./awaited-words.js";
import { LOUDSPEAKER_TAP, samplesOf, TAP_NAME, TAP_RATE_HZ } from "./loudspeaker-tap.js";

const PAGE_NAME = "talk.html";
const DOCUMENTED_HOST = "127.0.0.1:8080";

export interface TalkPageOptions {
  readonly browser: ViewerBrowser;
  /** The folder in which the page is saved. */
  readonly folder: string;
  /** The host and port of the server that the page is to call. */
  readonly host: string;
  readonly apiKey: string;
  readonly scriptBefore?: string;
}

/** The documented page, saved and opened as a reader does it, with a key entered and the call begun. */
export class TalkPage {
  readonly viewer: ViewerPage;
  /** The words in the audio of the loudspeaker, one by one. */
  readonly played: AwaitedWords;

  static async call(options: TalkPageOptions): Promise<TalkPage> {
    const { browser, folder, host, apiKey, scriptBefore = "" } = options;
    const file = join(folder, PAGE_NAME);
    await writeFile(file, pageText().replaceAll(DOCUMENTED_HOST, host));
    const played = awaitedWords();
    const decoder = new ToneDecoder(TAP_RATE_HZ, { onWord: ({ text }) => played.add(text) });
    const viewer = await browser.prepare();
    await viewer.page.exposeFunction(TAP_NAME, (samples: string) =>
      decoder.write(samplesOf(samples)),
    );
    await viewer.page.addInitScript(`${scriptBefore}${LOUDSPEAKER_TAP}`);
    await viewer.page.goto(pathToFileURL(file).href);
    await viewer.page.locator("#key").fill(apiKey);
    await viewer.page.getByRole("button", { name: "Call" }).click();
    return new TalkPage(viewer, played);
  }

  private constructor(viewer: ViewerPage, played: AwaitedWords) {
    this.viewer = viewer;
    this.played = played;
  }

  async hangUp(): Promise<void> {
    await this.viewer.page.getByRole("button", { name: "Hang up" }).click();
    await this.viewer.untilText("#log", /closed: 1000/);
  }

  /** Returns the lines that the page shows. */
  async lines(): Promise<readonly string[]> {
    const text = await this.viewer.page.locator("#log").textContent();
    return (text ?? "").trimEnd().split("\n");
  }
}

function pageText(): string {
  const blocks = readPages().flatMap((page) => page.blocks);
  const page = blocks.find(({ fileName }) => fileName === PAGE_NAME);
  assert.ok(
    page !== undefined && page.text.includes(DOCUMENTED_HOST),
    "docs/guides/web-page.md has the page",
  );
  return page.text;
}
