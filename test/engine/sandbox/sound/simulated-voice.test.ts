import assert from "node:assert/strict";
import { test } from "node:test";
import { MP3_KEPT_BYTES_MAX, speak } from "../../../../engine/sandbox/sound/simulated-voice.js";

const TEXT = "Your table is booked.";
const MP3 = { codec: "mp3", sampleRateHz: 24_000 } as const;
const PCM = { codec: "pcm", sampleRateHz: 24_000 } as const;

test("MP3 is made once, however much of other sound is made after it", async () => {
  const made = await speak(TEXT, MP3);
  let othersBytes = 0;
  for (let number = 0; othersBytes <= MP3_KEPT_BYTES_MAX; number += 1) {
    othersBytes += (await speak(`${number} ${"bake ".repeat(200)}`, PCM)).byteLength;
  }
  assert.equal(await speak(TEXT, MP3), made);
});
