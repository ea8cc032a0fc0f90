import assert from "node:assert/strict";
import { test } from "node:test";
import { Loudspeaker } from "../../../../engine/sandbox/sound/loudspeaker.js";
import { mp3DurationMs } from "../../../../engine/sandbox/sound/mp3-decoder.js";
import { speak } from "../../../../engine/sandbox/sound/simulated-voice.js";

const MS = 1_000_000n;
const mp3Of = (text: string): Promise<Uint8Array> =>
  speak(text, { codec: "mp3", sampleRateHz: 24_000 });

test("the length of an MP3 is known from its frames", async () => {
  const mp3 = await mp3Of("How long is this?");

  assert.equal(mp3DurationMs(mp3), (mp3.length / 144) * 24);
  assert.equal(
    mp3DurationMs(Buffer.concat([Buffer.from("ID3 and more"), mp3])),
    mp3DurationMs(mp3),
  );
});

test("one MP3 is played after another, and a pause in between stays a pause", async () => {
  const loudspeaker = new Loudspeaker();
  const first = await mp3Of("First sentence here.");
  const firstMs = BigInt(mp3DurationMs(first));
  loudspeaker.play(first, 0n);
  loudspeaker.play(await mp3Of("Second sentence here."), 10n * MS);

  const halfway = await loudspeaker.playedReplies((firstMs + 400n) * MS);
  assert.deepEqual(
    halfway.map(({ playedText }) => playedText),
    ["First sentence here.", "Second"],
  );
  loudspeaker.play(await mp3Of("Late."), 60_000n * MS);
  assert.ok((loudspeaker.endsNs ?? 0n) > 60_000n * MS);
});

test("stopped playback ends in the middle of a sentence; what waited is never heard", async () => {
  const loudspeaker = new Loudspeaker();
  loudspeaker.play(await mp3Of("One two three four five six."), 0n);
  loudspeaker.play(await mp3Of("Waiting."), 0n);
  loudspeaker.stop(500n * MS);
  loudspeaker.play(await mp3Of("Yes?"), 600n * MS);
  const heard = await loudspeaker.playedReplies(60_000n * MS);

  assert.deepEqual(
    heard.map(({ playedText }) => playedText),
    ["One two", "", "Yes?"],
  );
});

test("a loudspeaker that nothing came to has no end", () => {
  assert.equal(new Loudspeaker().endsNs, undefined);
});
