import assert from "node:assert/strict";
import { test } from "node:test";
import { MP3, MULAW_8K, PCM_24K } from "../../../../engine/audio/audio-format.js";
import { decodeMulaw, encodeMulaw } from "../../../../engine/audio/mulaw.js";
import { encodePcm } from "../../../../engine/audio/sample-coding.js";
import { speak } from "../../../../engine/sandbox/sound/simulated-voice.js";
import { wavHeader } from "../../../../engine/sandbox/sound/wav-header.js";
import type { SpeechFormat } from "../../../../engine/vendors/contracts.js";
import { SpeechIntake } from "../../../../engine/vendors/transport/speech-intake.js";

interface Taken {
  readonly audio: Buffer;
  /** The format that was told, where it is another one. */
  readonly format: SpeechFormat | undefined;
}

/** What is passed on of an answer that comes in pieces of this many bytes. */
function taken(
  format: SpeechFormat,
  answer: Uint8Array,
  { type = "", pieceBytes = answer.byteLength, takes = true, text = "Hello." } = {},
): Taken {
  const chunks: Buffer[] = [];
  let told: SpeechFormat | undefined;
  const onFormat = (given: SpeechFormat): boolean => {
    assert.equal(chunks.length, 0, "told before the first audio");
    told = given;
    return takes;
  };
  const onChunk = (audio: Uint8Array) => void chunks.push(Buffer.from(audio));
  const intake = new SpeechIntake("acme", { text, speed: 1, format, onFormat }, onChunk, type);
  for (let at = 0; at < answer.byteLength; at += pieceBytes) {
    intake.take(answer.subarray(at, at + pieceBytes));
  }
  intake.end();
  return { audio: Buffer.concat(chunks), format: told };
}

const SAMPLES = Int16Array.from({ length: 4_000 }, (_, n) => Math.round(9_000 * Math.sin(n / 7)));
const PCM = Buffer.from(encodePcm(SAMPLES, true));
const MULAW = Buffer.from(encodeMulaw(SAMPLES));

function wav(tag: number, bits: number, channels: number, rateHz: number, samples: Uint8Array) {
  const header = wavHeader(rateHz, samples.byteLength);
  header.writeUInt16LE(tag, 20);
  header.writeUInt16LE(channels, 22);
  header.writeUInt16LE((bits / 8) * channels, 32);
  header.writeUInt16LE(bits, 34);
  return Buffer.concat([header, samples, Buffer.from("LIST\u0004\u0000\u0000\u0000abcd")]);
}

test("the requested format passes unchanged, wherever it is cut", async () => {
  const mp3 = await speak("hello there", { codec: "mp3", sampleRateHz: 24_000 });
  for (const pieceBytes of [1, 3, 1_000, 100_000]) {
    assert.deepEqual(taken(MULAW_8K, MULAW, { pieceBytes }), { audio: MULAW, format: undefined });
    assert.deepEqual(taken(PCM_24K, PCM, { pieceBytes }), { audio: PCM, format: undefined });
    assert.deepEqual(taken(MP3, mp3, { pieceBytes }).audio, Buffer.from(mp3));
  }
});

test("µ-law that is nearly silent looks like frames of MP3, and is none", () => {
  for (const second of [0xfb, 0xf3, 0xe3, 0xff]) {
    const quiet = Buffer.alloc(2_000, 0xff);
    quiet[1] = second;
    quiet[2] = 0x50;
    assert.deepEqual(taken(MULAW_8K, quiet, { pieceBytes: 7 }).audio, quiet);
  }
});

test("a WAV of another rate is reported with its rate, without its header and what follows its samples", () => {
  for (const pieceBytes of [1, 13, 100_000]) {
    const answer = wav(1, 16, 1, 16_000, PCM);
    const format = { encoding: "pcm16", sampleRateHz: 16_000 };
    assert.deepEqual(taken(MULAW_8K, answer, { pieceBytes }), { audio: PCM, format });
    assert.deepEqual(taken(PCM_24K, answer, { pieceBytes }), { audio: PCM, format });
    const same = wav(1, 16, 1, 24_000, PCM);
    assert.deepEqual(taken(PCM_24K, same, { pieceBytes }), { audio: PCM, format: undefined });
  }
});

test("a WAV that is a stream does not know its size", () => {
  for (const sizeBytes of [0, 0xffff_ffff]) {
    const answer = Buffer.concat([wavHeader(24_000, sizeBytes), PCM]);
    assert.deepEqual(taken(PCM_24K, answer).audio, PCM);
  }
});

test("a WAV of any common codec is decoded, and its channels are mixed", () => {
  const of = (tag: number, bits: number, channels: number, samples: Uint8Array) =>
    taken(PCM_24K, wav(tag, bits, channels, 24_000, samples)).audio;
  const near = (audio: Buffer, slack: number) => {
    assert.equal(audio.byteLength, PCM.byteLength);
    for (let n = 0; n < SAMPLES.length; n += 1) {
      assert.ok(Math.abs(audio.readInt16LE(2 * n) - (SAMPLES[n] ?? 0)) <= slack, String(n));
    }
  };
  near(of(7, 8, 1, MULAW), 512);
  near(of(3, 32, 1, Buffer.from(Float32Array.from(SAMPLES, (s) => s / 32_767).buffer)), 1);
  near(of(1, 8, 1, Buffer.from(Uint8Array.from(SAMPLES, (s) => (s >> 8) + 128))), 256);
  near(of(1, 32, 1, Buffer.from(Int32Array.from(SAMPLES, (s) => s << 16).buffer)), 1);
  const stereo = Int16Array.from({ length: 2 * SAMPLES.length }, (_, n) => SAMPLES[n >> 1] ?? 0);
  near(of(1, 16, 2, Buffer.from(encodePcm(stereo, true))), 1);
  const asAsked = taken(MULAW_8K, wav(7, 8, 1, 8_000, MULAW));
  assert.deepEqual(asAsked, { audio: MULAW, format: undefined });
});

test("MP3 instead of samples is reported as MP3, with and without a tag before it", async () => {
  const mp3 = Buffer.from(await speak("hello there", { codec: "mp3", sampleRateHz: 24_000 }));
  const tagged = Buffer.concat([Buffer.from("ID3\u0004\u0000\u0000\u0000\u0000\u0000\u0000"), mp3]);
  for (const answer of [mp3, tagged]) {
    for (const pieceBytes of [1, 100, 100_000]) {
      const { audio, format } = taken(MULAW_8K, answer, { pieceBytes });
      assert.deepEqual([audio, format?.encoding], [answer, "mp3"]);
    }
  }
  const late = Buffer.concat([Buffer.alloc(100), mp3]);
  assert.equal(taken(PCM_24K, late, { type: "audio/mpeg" }).format?.encoding, "mp3");
  assert.equal(taken(PCM_24K, PCM, { type: "audio/mpeg" }).format, undefined, "only called so");
});

test("samples without a header are what the content type says", () => {
  const told = (format: SpeechFormat, type: string) => taken(format, PCM, { type }).format;
  assert.deepEqual(told(PCM_24K, "audio/L16;rate=16000"), {
    encoding: "pcm16",
    sampleRateHz: 16_000,
  });
  assert.deepEqual(told(MULAW_8K, "audio/pcm; rate=8000"), {
    encoding: "pcm16",
    sampleRateHz: 8_000,
  });
  assert.equal(told(PCM_24K, "audio/pcm"), undefined);
  assert.equal(told(MULAW_8K, "audio/basic"), undefined);
  const mulaw = taken(PCM_24K, MULAW, { type: "audio/basic" });
  assert.deepEqual(mulaw.format, { encoding: "pcm16", sampleRateHz: 8_000 });
  assert.deepEqual(mulaw.audio, Buffer.from(encodePcm(decodeMulaw(MULAW), true)));
});

test("what cannot be played fails with its reason, and nothing of it is passed on", () => {
  const latin = (text: string) => Buffer.from(text.padEnd(600, "x"), "latin1");
  for (const [answer, format, type, message] of [
    [latin("OggS"), MULAW_8K, "", /sent Ogg, which cannot be played/],
    [latin("fLaC"), PCM_24K, "", /sent FLAC/],
    [latin("\u001aE\u00df\u00a3"), MP3, "", /sent WebM/],
    [latin("\u0000\u0000\u0000 ftypM4A "), MP3, "", /sent MP4/],
    [latin('{"error":"no credits"}'), MULAW_8K, "", /sent text instead of audio/],
    [latin("<!DOCTYPE html>"), PCM_24K, "application/octet-stream", /sent text/],
    [PCM, PCM_24K, "audio/ogg; codecs=opus", /sent audio\/ogg/],
    [wav(85, 16, 1, 24_000, PCM), PCM_24K, "", /WAV that has the codec 85/],
    [wav(1, 12, 1, 24_000, PCM), PCM_24K, "", /cannot be decoded/],
    [wav(1, 16, 1, 16_000, PCM), MP3, "", /sent WAV \(pcm, 16000 Hz\) where mp3 of 24000 Hz/],
  ] as const) {
    for (const pieceBytes of [4, 100_000]) {
      const take = () => taken(format, answer, { type, pieceBytes, takes: false });
      assert.throws(take, { fault: "badAnswer", message });
    }
  }
});

test("AAC in its frames is no MP3", () => {
  const frame = Buffer.alloc(100);
  frame.writeUInt32BE(0xff_f1_50_80);
  frame.writeUInt8((100 >> 3) & 0xff, 4);
  frame.writeUInt8((100 & 7) << 5, 5);
  const answer = Buffer.concat([frame, frame, frame]);
  for (const format of [MP3, PCM_24K]) {
    assert.throws(() => taken(format, answer), { message: /sent AAC/ });
  }
});

const LONG = "Your table for four is booked for Friday at seven.";

test("silence in place of a text fails, and nothing of it is passed on", () => {
  for (const [format, silence] of [
    [PCM_24K, Buffer.alloc(144_001)],
    [MULAW_8K, Buffer.alloc(24_000, 0xff)],
  ] as const) {
    for (const pieceBytes of [1_001, 200_000]) {
      const take = () => taken(format, silence, { text: LONG, pieceBytes });
      assert.throws(take, { fault: "badAnswer", message: /returned 300[01] ms of silence/ });
    }
  }
});

test("the silence that speech begins with is passed on with its first sound", () => {
  const loud = Buffer.from(
    encodePcm(
      Int16Array.from({ length: 60_000 }, (_, n) => (n % 90) * 99),
      true,
    ),
  );
  const answer = Buffer.concat([Buffer.alloc(9_600), loud]);
  assert.deepEqual(taken(PCM_24K, answer, { text: LONG, pieceBytes: 999 }).audio, answer);
});

test("far too little sound for its text fails at its end, in every format", async () => {
  const mp3 = Buffer.from(await speak(LONG, { codec: "mp3", sampleRateHz: 24_000 }));
  const pcm = Buffer.from(await speak(LONG, { codec: "pcm", sampleRateHz: 24_000 }));
  const mulaw = Buffer.from(await speak(LONG, { codec: "mulaw", sampleRateHz: 8_000 }));
  for (const [format, whole] of [
    [MP3, mp3],
    [PCM_24K, pcm],
    [MULAW_8K, mulaw],
  ] as const) {
    assert.deepEqual(taken(format, whole, { text: LONG }).audio, whole);
    const part = whole.subarray(0, whole.byteLength / 3);
    assert.throws(() => taken(format, part, { text: LONG }), {
      fault: "badAnswer",
      message: /ms of audio for 50 characters/,
    });
  }
});

test("silence after half of a text does not count as audio for the rest, in pieces of any size", async () => {
  for (const [format, codec, silence] of [
    [PCM_24K, "pcm", 0],
    [MULAW_8K, "mulaw", 0xff],
  ] as const) {
    const whole = Buffer.from(await speak(LONG, { codec, sampleRateHz: format.sampleRateHz }));
    const half = whole.subarray(0, whole.byteLength >> 1);
    const padded = Buffer.concat([half, Buffer.alloc(whole.byteLength, silence)]);
    const paused = Buffer.concat([whole, Buffer.alloc(whole.byteLength, silence)]);
    for (const pieceBytes of [997, 1_000_000]) {
      const take = () => taken(format, padded, { text: LONG, pieceBytes });
      assert.throws(take, { fault: "badAnswer", message: /ms of audio for 50 characters/ });
      assert.deepEqual(taken(format, paused, { text: LONG, pieceBytes }).audio, paused);
    }
  }
});
