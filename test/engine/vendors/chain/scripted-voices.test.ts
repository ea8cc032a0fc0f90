import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { MP3 } from "../../../../engine/audio/audio-format.js";
import { AnswerLog } from "../../../../engine/vendors/chain/answer-log.js";
import { AnswerTimes } from "../../../../engine/vendors/chain/answer-times.js";
import { ChainedVoice } from "../../../../engine/vendors/chain/tts-chain.js";
import { type TextToSpeech, VendorError } from "../../../../engine/vendors/contracts.js";
import { VirtualClock } from "../../../doubles/virtual-clock.js";
import { never } from "../sandboxed-vendors.js";
import { chainOf } from "./chain-of.js";

const MP3_HEADER = Uint8Array.of(0xff, 0xf3, 0x64, 0xc4);

let answers: AnswerLog;
beforeEach(() => {
  answers = new AnswerLog();
});

/** A voice that gives these bytes for any sentence, and then ends or fails. */
function sayingOnce(bytes: Uint8Array, error?: VendorError): TextToSpeech {
  return {
    formats: [MP3],
    warm: () => undefined,
    synthesize: (_request, onChunk) => {
      onChunk(bytes);
      return error === undefined ? Promise.resolve() : Promise.reject(error);
    },
  };
}

interface Named {
  readonly vendor: string;
  readonly modelId: string;
  readonly client: TextToSpeech;
}

function voiceOf(links: readonly [Named, ...Named[]]): ChainedVoice {
  const chain = chainOf("tts", new VirtualClock(), answers, links);
  return new ChainedVoice(chain, { audioTimeoutMs: 1_500, times: new AnswerTimes() });
}

async function heard(links: readonly [Named, ...Named[]]): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  const request = { text: "Hello.", modelId: "m", speed: 1, language: "en-US", format: MP3 };
  await voiceOf(links).synthesize(request, (audio) => chunks.push(audio), never());
  return Buffer.concat(chunks);
}

test("the tag that may precede MP3 counts as its beginning", async () => {
  const tagged = Buffer.from("ID3\u0004 and frames");
  const first = { vendor: "tagged", modelId: "m", client: sayingOnce(tagged) };
  assert.deepEqual(await heard([first, first]), tagged);
  assert.equal(answers.take().tts?.firstFault, undefined);
});

test("a lasting fault in mid-sentence is reported unchanged without a fallback, and otherwise as retryable", async () => {
  const refusing = sayingOnce(MP3_HEADER, new VendorError("refusing", "unauthorized", "no"));
  const link = { vendor: "refusing", modelId: "m", client: refusing };
  for (const [links, fault] of [
    [[link], "unauthorized"],
    [[link, link], "disconnected"],
  ] as const) {
    await assert.rejects(heard(links), { fault });
  }
});

test("the first candidate is warmed", () => {
  const warmed: string[] = [];
  const link = (vendor: string) => {
    const client = { ...sayingOnce(MP3_HEADER), warm: () => void warmed.push(vendor) };
    return { vendor, modelId: "m", client };
  };
  voiceOf([link("first"), link("second")]).warm();
  assert.deepEqual(warmed, ["first"]);
});

test("audio whose first four bytes are not MP3's is refused", async () => {
  const saying = (vendor: string, bytes: Uint8Array) => ({
    vendor,
    modelId: "m",
    client: sayingOnce(bytes),
  });
  const links = [saying("first", Buffer.from("oops")), saying("second", MP3_HEADER)] as const;
  assert.deepEqual(await heard(links), Buffer.from(MP3_HEADER));
  assert.equal(answers.take().tts?.firstVendor, "first");
});
