import assert from "node:assert/strict";
import { test } from "node:test";
import { createMp3Encoder } from "wasm-media-encoders";
import { MP3, MULAW_8K, PCM_8K, PCM_16K, PCM_24K } from "../../../engine/audio/audio-format.js";
import { mp3Stream } from "../../../engine/audio/mp3-frames.js";
import { decodeMulaw } from "../../../engine/audio/mulaw.js";
import { decodeSamples, encodePcm } from "../../../engine/audio/sample-coding.js";
import { SpeechConversion } from "../../../engine/audio/speech-conversion.js";
import { decodeMp3 } from "../../../engine/sandbox/sound/mp3-decoder.js";
import { decodeSpeech, encodeSpeech } from "../../../engine/sandbox/telephone/tone-code.js";
import { amplitudeAt, decibels, sine } from "./measured-sound.js";
import { converted } from "./whole-audio.js";

const TO_MULAW = { from: MP3, to: MULAW_8K };

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
    const mulaw = await converted(mp3, TO_MULAW);
    assert.equal(mulaw.length, Math.ceil(mp3Stream(mp3).durationMs * 8 - 1e-6));
    await assertSameLevel(mulaw, mp3, 1_000);
  });
}

test("speech in MP3 is audible in every encoding of a line", async () => {
  const mp3 = await mp3Of(encodeSpeech("The next train leaves at noon.", 24_000), 24_000);
  for (const encoding of ["mulaw", "alaw", "pcm16", "pcm16be"] as const) {
    const line = await converted(mp3, { from: MP3, to: { encoding, sampleRateHz: 8_000 } });
    assert.equal(
      decodeSpeech(decodeSamples(line, encoding), 8_000),
      "The next train leaves at noon.",
    );
  }
});

test("stereo is heard as both channels together", async () => {
  const sound = sine(700, 44_100, 22_050);
  const mp3 = await mp3Of(sound, 44_100, 2);
  await assertSameLevel(await converted(mp3, TO_MULAW), mp3, 700);
});

test("nothing of one sentence is heard in the next", async () => {
  const loud = await mp3Of(sine(800, 24_000, 24_000, 30_000), 24_000);
  const quiet = await mp3Of(new Float32Array(12_000), 24_000);
  await converted(loud.subarray(0, loud.length - 500), TO_MULAW);
  const pcm = decodeMulaw(await converted(quiet, TO_MULAW));
  assert.ok(Math.max(...pcm.map(Math.abs)) <= 8);
});

test("PCM is converted without a delay and without a change of length", async () => {
  const pcm = new Int16Array(2_400);
  pcm[1_200] = 30_000;
  const line = await converted(encodePcm(pcm, true), { from: PCM_24K, to: PCM_8K });
  const heard = decodeSamples(line, "pcm16");
  assert.equal(heard.length, 800);
  assert.equal(heard.indexOf(Math.max(...heard)), 400);
  const same = await converted(encodePcm(pcm, true), {
    from: PCM_8K,
    to: { encoding: "pcm16be", sampleRateHz: 8_000 },
  });
  assert.deepEqual(decodeSamples(same, "pcm16be"), pcm);
});

test("what holds no MP3 is refused, and the next sentence is converted", async () => {
  const noise = Uint8Array.from({ length: 3_000 }, (_, at) => (at * 7) % 199);
  for (const answer of [noise, new Uint8Array(), new Uint8Array(4).fill(0xff)]) {
    assert.equal((await converted(answer, TO_MULAW)).length, 0);
  }
  const mp3 = await mp3Of(encodeSpeech("still here", 24_000), 24_000);
  const mulaw = await converted(mp3, TO_MULAW);
  assert.equal(decodeSpeech(decodeMulaw(mulaw), 8_000), "still here");
});

test("a sentence that comes in pieces is the whole sentence, bit for bit, in every format", async () => {
  const pcm = encodeSpeech("Piece by piece.", 24_000);
  const mp3 = await mp3Of(pcm, 24_000);
  const odd = await mp3Of(encodeSpeech("Piece by piece.", 44_100), 44_100);
  for (const to of [MULAW_8K, PCM_8K, PCM_16K, PCM_24K]) {
    for (const [audio, from] of [
      [mp3, MP3],
      [odd, MP3],
      [encodePcm(pcm, true), PCM_24K],
    ] as const) {
      const whole = await converted(audio, { from, to });
      for (const pieceBytes of [61, 600, 4_001]) {
        assert.deepEqual(await converted(audio, { from, to }, pieceBytes), whole);
      }
    }
  }
});

test("browsers get their requested rate, whatever TTS returns", async () => {
  const text = "For a browser.";
  for (const sourceHz of [22_050, 24_000, 44_100] as const) {
    const mp3 = await mp3Of(encodeSpeech(text, sourceHz), sourceHz);
    for (const to of [PCM_16K, PCM_24K]) {
      const pcm = decodeSamples(await converted(mp3, { from: MP3, to }), "pcm16");
      assert.equal(decodeSpeech(pcm, to.sampleRateHz), text, `${sourceHz} to ${to.sampleRateHz}`);
    }
  }
});

test("the beginning of a sentence can be heard before its end has come", async () => {
  const mp3 = await mp3Of(encodeSpeech("A long sentence, from its first word on.", 24_000), 24_000);
  const conversion = await SpeechConversion.open(TO_MULAW);
  const heard = conversion.write(mp3.subarray(0, 2_000));
  assert.ok(heard.length > 800, `${heard.length} bytes`);
  conversion.close();
});
