import assert from "node:assert/strict";
import { test } from "node:test";
import { MPEGDecoder } from "mpg123-decoder";
import { decodeMp3 } from "../../../../engine/sandbox/sound/mp3-decoder.js";
import { RestartedMp3Decoder } from "../../../../engine/sandbox/sound/restarted-mp3-decoder.js";
import { speak } from "../../../../engine/sandbox/sound/simulated-voice.js";

const STREAMS = 300;
const mp3 = (text: string, sampleRateHz = 24_000) => speak(text, { codec: "mp3", sampleRateHz });

function soundOf(decoder: MPEGDecoder, stream: Uint8Array) {
  const { channelData, samplesDecoded, sampleRate } = decoder.decode(stream);
  return { channelData, rateHz: samplesDecoded === 0 ? 0 : sampleRate };
}

async function soundAlone(stream: Uint8Array) {
  const decoder = new MPEGDecoder();
  await decoder.ready;
  return soundOf(decoder, stream);
}

test("a stream sounds the same after others, also behind one that was cut off or was none", async () => {
  const whole = await mp3("Seven green bottles.");
  const other = await mp3("Nothing like it at all.", 22_050);
  const streams = [
    whole,
    other,
    whole.subarray(0, 700),
    whole,
    Buffer.from("no MP3"),
    other,
    whole,
  ];
  const decoder = new RestartedMp3Decoder();
  await decoder.ready;
  for (const stream of streams) {
    decoder.restart();
    assert.deepEqual(soundOf(decoder, stream), await soundAlone(stream));
  }
});

test("no stream takes more of the decoder's memory", async () => {
  const stream = await mp3("One.");
  const decoder = new RestartedMp3Decoder();
  await decoder.ready;
  decoder.decode(stream);
  // With 17 MB, a decoder that is left behind each time fills it up within some hundred streams.
  for (let count = 0; count < STREAMS; count += 1) decoder.restart();
  assert.ok(decoder.decode(stream).samplesDecoded > 0);
});

test("what is no MP3 sounds as nothing, behind a stream too", async () => {
  assert.equal((await decodeMp3(await mp3("One."))).sampleRateHz, 24_000);
  const { pcm, sampleRateHz } = await decodeMp3(Buffer.from("no MP3"));
  assert.deepEqual([pcm.length, sampleRateHz], [0, 0]);
});
