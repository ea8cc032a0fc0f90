import * as v from "valibot";
import {
  CLIENT_PAGE_FILES,
  ClientPage,
  STRICT_POLICY,
} from "../../test/browser-system/client-page.js";
import { PageSite } from "../../test/browser-system/page-site.js";
import { SPOKEN_MICROPHONE, sayAgainUntil } from "../../test/browser-system/spoken-words.js";
import { Changes } from "../../test/doubles/changes.js";
import type { TestServer } from "../../test/system/test-server.js";
import type { ViewerBrowser } from "../livestream/viewer-browser.js";
import { CapturedSound } from "./captured-sound.js";
import { SentFrames } from "./sent-frames.js";

/** What a page's user heard in one call, in ms. */
export interface SoundTrial {
  /** From the first byte of audio on the line to the first sample that the device plays; a turn each. */
  readonly firstSoundMs: readonly number[];
  /** The same from the voice's first byte at the server, for the turns whose records tell. */
  readonly fromVoiceMs: readonly number[];
  /** From the server's `audioStop` to the last sample that the device plays. */
  readonly silenceMs: number;
}

const nowMs = () => performance.timeOrigin + performance.now();
const Report = v.object({ turn: v.number(), ttsRestMs: v.optional(v.number()) });
const Turns = v.object({ turns: v.array(Report) });

/** One call by a page: the agent counts, is interrupted, and answers something else. */
export async function soundTrial(server: TestServer, browser: ViewerBrowser): Promise<SoundTrial> {
  const sent = new SentFrames(nowMs);
  const sound = new CapturedSound();
  const heardMore = new Changes();
  const site = await PageSite.start(server.url, CLIENT_PAGE_FILES, STRICT_POLICY, sent.push);
  const customer = await server.customer();
  await server.agent(customer);
  const page = await ClientPage.open({
    browser,
    origin: site.origin,
    scriptBefore: SPOKEN_MICROPHONE,
    onHeard: ({ nowPlaying, endSec, rateHz, samples }) => {
      const endAtMs = nowPlaying.epochMs + (endSec - nowPlaying.atSec) * 1_000;
      sound.push({ endAtMs, rateHz, samples });
      heardMore.tell();
    },
  });
  try {
    const refusal = await page.begin({ apiKey: customer.apiKey });
    if (refusal !== "") throw new Error(`the page's call was refused: ${refusal}`);
    const { page: tab } = page.viewer;
    await page.until("connected", v.object({ isAgain: v.literal(false) }));
    await sayAgainUntil(tab, "Please count to 30.", () => page.played.until(/Number 2\./));
    await sayAgainUntil(tab, "Stop. What is my name?", () => page.played.until(/just say it\.$/));
    const stopped = sent.turns.findLast(({ stoppedAtMs }) => stoppedAtMs !== undefined);
    if (stopped?.stoppedAtMs === undefined) throw new Error("the agent was not interrupted");
    const { stoppedAtMs } = stopped;
    const silentAtMs = await heardMore.until("silence", () => sound.silentFrom(stoppedAtMs));
    await page.hangUp();
    const { metadata } = await server.endedCall(customer);
    const { turns: records } = v.parse(Turns, metadata);
    const begun = sent.turns.flatMap(({ turnId, firstAudioAtMs }) => {
      const soundsAtMs = firstAudioAtMs && sound.firstSoundFrom(firstAudioAtMs);
      if (firstAudioAtMs === undefined || soundsAtMs === undefined) return [];
      const { ttsRestMs } = records.find(({ turn }) => turn === turnId) ?? {};
      return [{ firstSoundMs: soundsAtMs - firstAudioAtMs, ttsRestMs }];
    });
    return {
      firstSoundMs: begun.map(({ firstSoundMs }) => firstSoundMs),
      fromVoiceMs: begun.flatMap(({ firstSoundMs, ttsRestMs }) =>
        ttsRestMs === undefined ? [] : [firstSoundMs + ttsRestMs],
      ),
      silenceMs: silentAtMs - stoppedAtMs,
    };
  } finally {
    await page.viewer.close();
    site.close();
  }
}
