import assert from "node:assert/strict";
import { test } from "node:test";
import { createMp3Encoder } from "wasm-media-encoders";
import { mp3Stream } from "../../../engine/audio/mp3-frames.js";
import { decodeMulaw } from "../../../engine/audio/mulaw.js";
import {
  decodePhoneAudio,
  encodePcm,
  type PhoneEncoding,
} from "../../../engine/audio/phone-encoding.js";
import { convertSentence } from "../../../engine/audio/sentence-audio.js";
import { decodeMp3 } from "../../../engine/sandbox/mp3-decoder.js";
import { decodeSpeech, encodeSpeech } from "../../../engine/sandbox/tone-code.js";
import { amplitudeAt, decibels, sine } from "./measured-sound.js";

const TO_MULAW = { from: "mp3", to: "mulaw" } as const;

async function mp3Of(
  pcm: ArrayLike<number>,
  sampleRate: 24_000 | 44_100 | 22_050 | 16_000 | 48_000,
  channels: 1 | 2 = 1,
): Promise<Uint8Array> {
  const encoder = await createMp3Encoder();
  encoder.configure({ sampleRate, channels, bitrate: 96 });
  const sound = Float32Array.from(pcm, (sample) => sample / 32_768);
  const parts = [encoder.encode(channels === 1 ? [sound] : [sound, sound])];
  const first = Uint8Array.from(parts[0] ?? []);
  return Buffer.concat([first, encoder.finalize()]);
}

/** As the same decoder gives it at the MP3's own rate: the encoder itself makes it quieter by half a decibel. */
async function assertSameLevel(mulaw: Uint8Array, mp3: Uint8Array, hz: number): Promise<void> {
  const { pcm, sampleRateHz } = await decodeMp3(mp3);
  const middle = pcm.subarray(0.1 * sampleRateHz, 0.4 * sampleRateHz);
  const wanted = amplitudeAt(middle, hz, sampleRateHz);
  const heard = amplitudeAt(decodeMulaw(mulaw).subarray(800, 3_200), hz, 8_000);
  assert.ok(Math.abs(decibels(heard / wanted)) < 0.15, `${heard} for ${wanted}`);
}

for (const rateHz of [16_000, 22_050, 24_000, 44_100, 48_000] as const) {
  test(`MP3 of ${rateHz} Hz becomes exactly as much µ-law, at the same level`, async () => {
    const mp3 = await mp3Of(sine(1_000, rateHz, rateHz / 2), rateHz);
    const mulaw = await convertSentence(mp3, TO_MULAW);
    assert.equal(mulaw.length, Math.ceil(mp3Stream(mp3).durationMs * 8 - 1e-6));
    await assertSameLevel(mulaw, mp3, 1_000);
  });
}

test("what is said in MP3 is heard in every encoding of a leg", async () => {
  const mp3 = await mp3Of(encodeSpeech("The next train leaves at noon.", 24_000), 24_000);
  for (const to of ["mulaw", "alaw", "l16", "l16be"] satisfies PhoneEncoding[]) {
    const sent = await convertSentence(mp3, { from: "mp3", to });
    assert.equal(decodeSpeech(decodePhoneAudio(sent, to), 8_000), "The next train leaves at noon.");
  }
});

test("stereo is heard as both channels together", async () => {
  const sound = sine(700, 44_100, 22_050);
  const mp3 = await mp3Of(sound, 44_100, 2);
  await assertSameLevel(await convertSentence(mp3, TO_MULAW), mp3, 700);
});

test("nothing of one sentence is heard in the next", async () => {
  const loud = await mp3Of(sine(800, 24_000, 24_000, 30_000), 24_000);
  const quiet = await mp3Of(new Float32Array(12_000), 24_000);
  await convertSentence(loud.subarray(0, loud.length - 500), TO_MULAW);
  const pcm = decodeMulaw(await convertSentence(quiet, TO_MULAW));
  assert.ok(Math.max(...pcm.map(Math.abs)) <= 8);
});

test("PCM is converted without a delay and without a change of length", async () => {
  const pcm = new Int16Array(2_400);
  pcm[1_200] = 30_000;
  const sent = await convertSentence(encodePcm(pcm, true), { from: "pcm24k", to: "l16" });
  const heard = decodePhoneAudio(sent, "l16");
  assert.equal(heard.length, 800);
  assert.equal(heard.indexOf(Math.max(...heard)), 400);
  const same = await convertSentence(encodePcm(pcm, true), { from: "pcm8k", to: "l16be" });
  assert.deepEqual(decodePhoneAudio(same, "l16be"), pcm);
});

test("what holds no MP3 is refused, and the next sentence is converted", async () => {
  const noise = Uint8Array.from({ length: 3_000 }, (_, at) => (at * 7) % 199);
  for (const answer of [noise, new Uint8Array(), new Uint8Array(4).fill(0xff)]) {
    await assert.rejects(convertSentence(answer, TO_MULAW), /no MP3/);
  }
  const mp3 = await mp3Of(encodeSpeech("still here", 24_000), 24_000);
  const mulaw = await convertSentence(mp3, TO_MULAW);
  assert.equal(decodeSpeech(decodeMulaw(mulaw), 8_000), "still here");
});
