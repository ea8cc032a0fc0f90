import assert from "node:assert/strict";
import * as v from "valibot";
import type { ViewerBrowser, ViewerPage } from "../../bench/livestream/viewer-browser.js";
import { newResampler } from "../../engine/audio/resampler.js";
import { ToneDecoder } from "../../engine/sandbox/telephone/tone-code.js";
import { Changes } from "../doubles/changes.js";
import { type AwaitedWords, awaitedWords } from "./awaited-words.js";
import { samplesOf, TAP_NAME, TAP_RATE_HZ } from "./loudspeaker-tap.js";
import { TAP_WORKLET, tappedLoudspeaker } from "./page-loudspeaker.js";
import type { SiteFile } from "./page-site.js";

const PAGE_PATH = "/test-page";
const SCRIPT_PATH = "/test-page.js";
const TAP_PATH = "/test-tap.js";
/** The strict policy of a careful site: nothing inline, nothing from a blob: or data:, nothing from another host. */
export const STRICT_POLICY =
  "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; media-src 'self'; base-uri 'none'";
const NOTE_NAME = "noteEvent";

/** The page's whole script: it passes the call's events to the test. */
const SCRIPT = `import { BrowserCall, soundDevices } from "/client/parley-client.js";
const names = ["state", "connected", "words", "turn", "wait", "microphone", "fault", "mended", "ended"];
globalThis.devices = soundDevices;
globalThis.begin = (options) => {
  const call = new BrowserCall(options);
  globalThis.call = call;
  for (const name of names) call.on(name, (event) => globalThis.${NOTE_NAME}(name,
    event instanceof Error ? { code: event.code, message: event.message } :
    name === "turn" ? { ...event, atSec: globalThis.testContext.currentTime } : event));
  return call.start().then(() => "", (fault) => fault.code);
};`;

type Frame = ReturnType<ViewerPage["page"]["frames"]>[number];

const Note = v.tuple([v.string(), v.unknown()]);

/** The page's files, for a site. */
export const CLIENT_PAGE_FILES = {
  [PAGE_PATH]: {
    contentType: "text/html",
    body: `<!doctype html><script type="module" src="${SCRIPT_PATH}"></script>`,
  },
  [SCRIPT_PATH]: { contentType: "text/javascript", body: SCRIPT },
  [TAP_PATH]: { contentType: "text/javascript", body: TAP_WORKLET },
} as const;

/** A page on a site of another origin that contains the test page in a frame with these attributes. */
export function framingPage(origin: string, attributes: string): SiteFile {
  const src = `${origin}${PAGE_PATH}`;
  return {
    contentType: "text/html",
    body: `<!doctype html><iframe src="${src}" ${attributes}></iframe>`,
  };
}

export interface ClientPageOptions {
  readonly browser: ViewerBrowser;
  /** Starts a site with CLIENT_PAGE_FILES. */
  readonly origin: string;
  readonly rateHz?: number;
  readonly scriptBefore?: string;
  readonly onHeard?: (heard: HeardPiece) => void;
  /** The address of a page that contains the test page in a frame. Omitted: the test page is the whole page. */
  readonly frameUrl?: string;
}

/** 10 ms of loudspeaker audio: when they end on the page's audio clock, and their largest sample. */
export interface Sounding {
  readonly endSec: number;
  readonly peak: number;
}

/** Audio that was sent to the loudspeaker, up to `endSec` on the page's audio clock. */
export interface HeardPiece {
  readonly endSec: number;
  readonly rateHz: number;
  readonly samples: Int16Array;
  /** The position that the device was playing at that time of day. */
  readonly nowPlaying: { readonly atSec: number; readonly epochMs: number };
}

/** The message from the page. */
interface TappedPiece extends Omit<HeardPiece, "samples"> {
  readonly samples: string;
}

function soundingsOf({ endSec, rateHz, samples }: HeardPiece): readonly Sounding[] {
  const size = rateHz / 100;
  return Array.from({ length: Math.floor(samples.length / size) }, (_, index) => {
    const end = (index + 1) * size;
    const loudness = samples.subarray(index * size, end).map(Math.abs);
    return { endSec: endSec - (samples.length - end) / rateHz, peak: Math.max(...loudness) };
  });
}

/** A page of a careful site that calls an agent with the client that the server serves. */
export class ClientPage {
  readonly viewer: ViewerPage;
  readonly played: AwaitedWords;
  readonly soundings: readonly Sounding[];
  readonly #frame: Frame;
  readonly #notes: readonly (readonly [string, unknown])[];
  readonly #changes: Changes;

  static async open(options: ClientPageOptions): Promise<ClientPage> {
    const { browser, origin, rateHz = TAP_RATE_HZ, scriptBefore = "", onHeard } = options;
    const url = `${origin}${PAGE_PATH}`;
    const played = awaitedWords();
    const soundings: Sounding[] = [];
    const decoder = new ToneDecoder(TAP_RATE_HZ, { onWord: ({ text }) => played.add(text) });
    const resampler = newResampler(rateHz, TAP_RATE_HZ);
    const viewer = await browser.prepare();
    const { page } = viewer;
    const notes: (readonly [string, unknown])[] = [];
    const changes = new Changes();
    await page.exposeFunction(TAP_NAME, (piece: TappedPiece) => {
      const samples = samplesOf(piece.samples);
      const heard = { ...piece, samples };
      onHeard?.(heard);
      soundings.push(...soundingsOf(heard));
      decoder.write(resampler.push(samples));
      changes.tell();
    });
    await page.exposeFunction(NOTE_NAME, (...note: unknown[]) => {
      notes.push(v.parse(Note, note));
      changes.tell();
    });
    await page.addInitScript(`${scriptBefore}${tappedLoudspeaker(rateHz, TAP_PATH)}`);
    await page.goto(options.frameUrl ?? url);
    const frame = page.frame({ url });
    assert.ok(frame, url);
    await frame.waitForFunction("globalThis.begin !== undefined");
    return new ClientPage({ viewer, frame, played, soundings, notes, changes });
  }

  private constructor(parts: {
    readonly viewer: ViewerPage;
    readonly frame: Frame;
    readonly played: AwaitedWords;
    readonly soundings: readonly Sounding[];
    readonly notes: readonly (readonly [string, unknown])[];
    readonly changes: Changes;
  }) {
    this.viewer = parts.viewer;
    this.#frame = parts.frame;
    this.played = parts.played;
    this.soundings = parts.soundings;
    this.#notes = parts.notes;
    this.#changes = parts.changes;
  }

  /** Begins the call. Returns the code of the error if it could not begin, or an empty string. */
  async begin(options: Readonly<Record<string, string | boolean>>): Promise<string> {
    return v.parse(v.string(), await this.#frame.evaluate(`begin(${JSON.stringify(options)})`));
  }

  /** Returns every event of that name so far. */
  notes(name: string): readonly unknown[] {
    return this.#notes.filter(([each]) => each === name).map(([, event]) => event);
  }

  /** Resolves with the first event of that name that matches the schema. */
  async until<Schema extends v.GenericSchema>(
    name: string,
    schema: Schema,
  ): Promise<v.InferOutput<Schema>> {
    return this.#changes.until(`the event ${name}`, async () => {
      const found = this.notes(name).find((event) => v.is(schema, event));
      return found === undefined ? undefined : v.parse(schema, found);
    });
  }

  /** Resolves with the audio pieces that begin after that moment, once there is half a second of them. */
  async soundAfter(sec: number): Promise<readonly Sounding[]> {
    return this.#changes.until("half a second of sound", () => {
      const later = this.soundings.filter(({ endSec }) => endSec > sec);
      return later.length >= 50 ? later.slice(0, 50) : undefined;
    });
  }

  async hangUp(): Promise<void> {
    await this.viewer.page.evaluate("call.hangUp()");
    await this.until("ended", v.object({ code: v.literal(1000) }));
  }
}
