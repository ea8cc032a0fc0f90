import assert from "node:assert/strict";
import { test } from "node:test";
import { MPEGDecoder } from "mpg123-decoder";
import { Mp3Decoders, Mp3Module, type Mp3Stream } from "../../engine/mp3-decoder.js";
import { speak } from "../../engine/sandbox/sound/simulated-voice.js";

const STREAMS_PER_MODULE = 16;
const mp3 = (text: string, sampleRateHz = 24_000) => speak(text, { codec: "mp3", sampleRateHz });

function soundOf(decoder: Pick<Mp3Stream, "decode">, bytes: Uint8Array) {
  const { channelData, samplesDecoded, sampleRate } = decoder.decode(bytes);
  return { channelData, rateHz: samplesDecoded === 0 ? 0 : sampleRate };
}

/** As the package's own decoder gives it, which has a module to itself. */
async function soundAlone(bytes: Uint8Array, gapless = true) {
  const decoder = new MPEGDecoder({ enableGapless: gapless });
  await decoder.ready;
  return soundOf(decoder, bytes);
}

test("a stream decodes the same alone, after others, after one that was cut off, and after invalid MP3", async () => {
  const whole = await mp3("Seven green bottles.");
  const other = await mp3("Nothing like it at all.", 22_050);
  const noise = Buffer.from("no MP3");
  const decoders = new Mp3Decoders();
  for (const bytes of [whole, other, whole.subarray(0, 700), whole, noise, other, whole]) {
    for (const gapless of [true, false]) {
      const stream = await decoders.open({ gapless });
      assert.deepEqual(soundOf(stream, bytes), await soundAlone(bytes, gapless));
      stream.close();
    }
  }
});

test("streams that come at the same time, piece by piece, each sound as they do alone", async () => {
  const decoders = new Mp3Decoders();
  const texts = Array.from({ length: STREAMS_PER_MODULE + 1 }, (_, index) => `Call ${index}.`);
  const calls = await Promise.all(
    texts.map(async (text) => {
      const bytes = await mp3(text);
      const stream = await decoders.open({ gapless: false });
      return { bytes, stream, heard: new Array<number>() };
    }),
  );
  assert.equal(decoders.moduleCount, 2);
  const longest = Math.max(...calls.map(({ bytes }) => bytes.length));
  for (let at = 0; at < longest; at += 333) {
    for (const { bytes, stream, heard } of calls) {
      const [left = []] = stream.decode(bytes.subarray(at, at + 333)).channelData;
      heard.push(...left);
    }
  }
  for (const { bytes, stream, heard } of calls) {
    stream.close();
    const [alone = []] = (await soundAlone(bytes, false)).channelData;
    assert.deepEqual(heard, [...alone]);
  }
  assert.equal(decoders.moduleCount, 1);
});

test("streams that are opened at once wait for one module, and full ones take no more", async () => {
  const decoders = new Mp3Decoders();
  const open = () => decoders.open({ gapless: false });
  const first = await Promise.all(Array.from({ length: STREAMS_PER_MODULE }, open));
  assert.equal(decoders.moduleCount, 1);
  const next = await open();
  assert.equal(decoders.moduleCount, 2);
  first[0]?.close();
  first[0]?.close();
  const inItsPlace = await open();
  assert.equal(decoders.moduleCount, 2);
  const another = await open();
  assert.equal(decoders.moduleCount, 2);
  for (const stream of [...first, next, inItsPlace, another]) stream.close();
  assert.equal(decoders.moduleCount, 1);
});

test("a thousand streams, one after the other, take no more memory than one", async () => {
  const decoders = new Mp3Decoders();
  const bytes = await mp3("One.");
  for (let count = 0; count < 1_000; count += 1) {
    (await decoders.open({ gapless: false })).close();
  }
  const last = await decoders.open({ gapless: false });
  assert.ok(last.decode(bytes).samplesDecoded > 0);
  last.close();
  assert.throws(() => last.decode(bytes), /the MP3 stream is closed/);
});

test("a tag that says it is larger than the module's memory yields no sound, and an end", async () => {
  const decoders = new Mp3Decoders();
  const stream = await decoders.open({ gapless: false });
  const tag = Buffer.from([0x49, 0x44, 0x33, 4, 0, 0, 0x7f, 0x7f, 0x7f, 0x7f]);
  for (const piece of [tag, Buffer.alloc(200_000), await mp3("Hidden.")]) {
    assert.equal(stream.decode(piece).samplesDecoded, 0);
  }
  stream.close();
});

test("nothing begins in a module that has failed, and its memory goes with its last stream", async () => {
  const module = await Mp3Module.load();
  const broken = module.open({ gapless: false });
  assert.ok(module.hasRoom);
  module.decode = () => {
    throw new Error("unreachable");
  };
  assert.throws(() => broken.decode(new Uint8Array(1)), /unreachable/);
  assert.ok(!module.hasRoom && !module.isEmpty);
  broken.close();
  assert.ok(!module.hasRoom && module.isEmpty);
});
