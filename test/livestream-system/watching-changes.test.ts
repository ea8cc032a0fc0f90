import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import * as v from "valibot";
import { StackProcess } from "../../bench/livestream/stack-process.js";
import { ViewerBrowser, type ViewerPage } from "../../bench/livestream/viewer-browser.js";
import { eventually } from "../system/eventually.js";
import { ChangingBroadcast, type Scene } from "./changing-broadcast.js";
import { listedStreams, untilListed } from "./stream-list.js";

const KEY = "demo";
/** The end of a track is noticed after 3 to 6 s, and a new ffmpeg needs a keyframe and a segment. */
const CHANGE_MAX_MS = 60_000;

const Played = v.object({
  timeSec: v.number(),
  soundBytes: v.number(),
  frames: v.number(),
  hasSound: v.boolean(),
});
/** The position of the video element, and the data that it has decoded since it was loaded. */
const PLAYED = `(() => {
  const video = document.querySelector("#video");
  return {
    timeSec: video.currentTime,
    soundBytes: video.webkitAudioDecodedByteCount,
    frames: video.webkitDecodedFrameCount,
    hasSound: !document.querySelector("#mute").disabled,
  };
})()`;

type Played = v.InferOutput<typeof Played>;

async function played({ page }: ViewerPage): Promise<Played> {
  return v.parse(Played, await page.evaluate(PLAYED));
}

/** Resolves when one second has been played while the condition held. */
async function untilPlayed(
  viewer: ViewerPage,
  what: string,
  isSo: (earlier: Played, now: Played) => boolean,
): Promise<void> {
  let earlier = await played(viewer);
  await eventually(
    what,
    async () => {
      const now = await played(viewer);
      // The page has reloaded, or the expected change has not arrived yet.
      if (now.timeSec < earlier.timeSec || !isSo(earlier, now)) earlier = now;
      return now.timeSec - earlier.timeSec > 1 || undefined;
    },
    CHANGE_MAX_MS,
  );
}

const hasSound = (earlier: Played, now: Played) =>
  now.hasSound && now.soundBytes > 0 && now.soundBytes >= earlier.soundBytes;
const hasPicture = (earlier: Played, now: Played) => now.frames > 0 && now.frames >= earlier.frames;

/** Opens a page that plays a broadcast which has begun with video and audio. */
async function watching(t: TestContext) {
  const stack = await StackProcess.start({ AUDIO_RUNG: "1" });
  t.after(() => stack.stop());
  const broadcast = await ChangingBroadcast.start(t, stack.rtmpPort, KEY);
  void broadcast.play({});
  const browser = await ViewerBrowser.start();
  t.after(() => browser.stop());
  await untilListed(stack.frontUrl, KEY);
  const viewer = await browser.open(`${stack.frontUrl}/#/${KEY}`);
  await viewer.untilPlaying();
  await untilPlayed(
    viewer,
    "picture and sound",
    (earlier, now) => hasSound(earlier, now) && hasPicture(earlier, now),
  );
  const play = (scene: Scene) => void broadcast.play(scene);
  return { stack, viewer, play };
}

test("a page continues without audio when it ends, and with it when it returns", async (t) => {
  const { stack, viewer, play } = await watching(t);
  play({ sampleRate: 0 });
  await viewer.page.getByRole("button", { name: "This stream has no sound" }).waitFor({
    timeout: CHANGE_MAX_MS,
  });
  await untilPlayed(
    viewer,
    "the picture alone",
    (earlier, now) => !now.hasSound && now.soundBytes === 0 && hasPicture(earlier, now),
  );
  play({});
  await untilPlayed(
    viewer,
    "picture and sound again",
    (earlier, now) => hasSound(earlier, now) && hasPicture(earlier, now),
  );
  assert.deepEqual(
    (await listedStreams(stack.frontUrl)).map(({ streamKey }) => streamKey),
    [KEY],
  );
  assert.deepEqual(viewer.faults, []);
});

test("a page continues the audio when the video ends, and plays the video when it returns", async (t) => {
  const { stack, viewer, play } = await watching(t);
  play({ size: "none" });
  await untilPlayed(
    viewer,
    "the sound alone",
    (earlier, now) => hasSound(earlier, now) && now.frames === 0,
  );
  play({});
  await untilPlayed(
    viewer,
    "the picture again",
    (earlier, now) => hasSound(earlier, now) && hasPicture(earlier, now),
  );
  assert.deepEqual(
    (await listedStreams(stack.frontUrl)).map(({ streamKey }) => streamKey),
    [KEY],
  );
  assert.deepEqual(viewer.faults, []);
});
