import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it, test } from "node:test";
import { PCM_16K } from "../../../engine/audio/audio-format.js";
import { readAssemblyAiOptions } from "../../../engine/sandbox/assemblyai/assemblyai-simulator.js";
import { readStreamOptions } from "../../../engine/sandbox/deepgram/deepgram-handshake.js";
import { readFluxOptions } from "../../../engine/sandbox/deepgram/flux-stream.js";
import { encodeSpeech } from "../../../engine/sandbox/telephone/tone-code.js";
import {
  AssemblyAiReader,
  assemblyAiDialect,
} from "../../../engine/vendors/assemblyai/assemblyai.js";
import type { ListenOptions } from "../../../engine/vendors/contracts.js";
import { fluxDialect } from "../../../engine/vendors/deepgram/deepgram-flux.js";
import { novaDialect, parseNovaMessage } from "../../../engine/vendors/deepgram/deepgram-nova.js";
import {
  detectedLanguages,
  modelsThatDetectLanguages,
} from "../../../engine/vendors/model-catalog.js";
import { transcriptionRequest } from "../../../engine/vendors/openai-protocol/audio-transcriptions.js";
import { speechToText } from "../../../engine/vendors/registry.js";
import { RecordingListener } from "./recording-listener.js";
import { never, type SandboxedVendors, startSandboxedVendors } from "./sandboxed-vendors.js";

const BASE = { language: "en-US", format: PCM_16K, endpointingMs: 200 } as const;

function queryOf(
  dialect: { target(options: ListenOptions): string },
  modelId: string,
  otherLanguages?: readonly string[],
): URLSearchParams {
  const options = { ...BASE, modelId, ...(otherLanguages && { otherLanguages }) };
  return new URL(dialect.target(options), "wss://vendor.example.com").searchParams;
}

const assemblyAi = assemblyAiDialect({});
const OTHERS = ["de-DE", "es"];

test("each vendor is asked for languages in its own way, and only where it can tell them", () => {
  const nova = queryOf(novaDialect(), "nova-3", OTHERS);
  assert.equal(nova.get("language"), "multi");
  assert.deepEqual(nova.getAll("language_hint"), ["en", "de", "es"]);
  const old = queryOf(novaDialect(), "nova-2", ["es"]);
  assert.deepEqual([old.get("language"), old.has("language_hint")], ["multi", false]);
  const plain = queryOf(novaDialect(), "nova-3");
  assert.deepEqual([plain.get("language"), plain.has("language_hint")], ["en-US", false]);
  const flux = queryOf(fluxDialect({}), "flux-general-multi", OTHERS);
  assert.deepEqual(flux.getAll("language_hint"), ["en", "de", "es"]);
  assert.equal(queryOf(fluxDialect({}), "flux-general-en", OTHERS).has("language_hint"), false);
  const multilingual = "universal-streaming-multilingual";
  assert.equal(queryOf(assemblyAi, multilingual, OTHERS).get("language_detection"), "true");
  for (const query of [
    queryOf(assemblyAi, multilingual),
    queryOf(assemblyAi, "universal-streaming-english", OTHERS),
  ]) {
    assert.equal(query.has("language_detection"), false);
  }
  for (const options of [readStreamOptions(nova), readStreamOptions(old), readFluxOptions(flux)]) {
    assert.ok(!("status" in options));
  }
  const { body } = transcriptionRequest(new Uint8Array(2), { ...BASE, modelId: "m" }, true);
  const form = body.toString("latin1");
  assert.ok(form.includes("verbose_json") && !form.includes('name="language"'), form);
});

test("a model that does not know the call's own language detects none, and is hinted none that it does not know", () => {
  const asked = (
    dialect: { target(options: ListenOptions): string },
    modelId: string,
    language: string,
    otherLanguages: readonly string[],
  ) => {
    const path = dialect.target({ ...BASE, modelId, language, otherLanguages });
    const { searchParams } = new URL(path, "wss://vendor.example.com");
    return [searchParams.get("language"), searchParams.getAll("language_hint").join()];
  };
  const nova = novaDialect();
  // A German agent's fallback, and a call in a language of its own.
  assert.deepEqual(asked(nova, "nova-2", "de-DE", ["en-US"]), ["de-DE", ""]);
  assert.deepEqual(asked(nova, "nova-2", "en-US", ["de-DE"]), ["en-US", ""]);
  assert.deepEqual(asked(nova, "nova-2", "en-US", ["de-DE", "es"]), ["multi", ""]);
  assert.deepEqual(asked(nova, "nova-3", "en-US", ["cy", "de-DE"]), ["multi", "en,de"]);
  const flux = fluxDialect({});
  assert.deepEqual(asked(flux, "flux-general-multi", "en-US", ["tr", "de"]), [null, "en,de"]);
  assert.deepEqual(asked(flux, "flux-general-multi", "tr-TR", ["en", "de"]), [null, ""]);
  const detects = (language: string, others: readonly string[]) => {
    const modelId = "universal-streaming-multilingual";
    const path = assemblyAi.target({ ...BASE, modelId, language, otherLanguages: others });
    return new URL(path, "wss://vendor.example.com").searchParams.has("language_detection");
  };
  assert.deepEqual([detects("tr-TR", ["en"]), detects("en", ["tr"])], [false, false]);
  assert.equal(detects("en", ["tr", "de"]), true);
});

test("Cantonese is hinted as such, not as Mandarin", () => {
  const hints = queryOf(novaDialect(), "nova-3", ["zh-hk"]).getAll("language_hint");
  assert.deepEqual(hints, ["en", "zh-HK"]);
  assert.deepEqual(queryOf(novaDialect(), "nova-3", ["zh-CN"]).getAll("language_hint"), [
    "en",
    "zh",
  ]);
});

test("the simulators refuse what the vendors do not know", () => {
  const hinted = queryOf(novaDialect(), "nova-3");
  hinted.append("language_hint", "de");
  assert.ok("status" in readStreamOptions(hinted));
  const unsure = queryOf(assemblyAi, "universal-streaming-multilingual", OTHERS);
  unsure.set("language_detection", "perhaps");
  assert.equal(readAssemblyAiOptions(unsure), "language_detection is true or false");
});

test("the language of a Nova result is that of most of its words, and none where the vendor assigns none", () => {
  const word = (language?: unknown) => ({ word: "a", end: 1, language });
  const languageOf = (alternative: object) => {
    const channel = { alternatives: [{ transcript: "a", ...alternative }] };
    const message = { type: "Results", start: 0, duration: 1, channel };
    const read = parseNovaMessage(JSON.stringify(message));
    assert.equal(read?.kind, "results");
    return read.language;
  };
  const words = [word("en"), word("de"), word("DE-at"), word()];
  assert.deepEqual(languageOf({ words, languages: ["en"] }), { code: "de" });
  assert.deepEqual(languageOf({ words: [word()], languages: ["es", "en"] }), { code: "es" });
  assert.equal(languageOf({ words: [word()] }), undefined);
  assert.equal(languageOf({ words: [word(7)], languages: "de" }), undefined);
});

test("AssemblyAI tells the language with its confidence, and a wrong one counts as none", () => {
  const reader = new AssemblyAiReader(() => "disconnected");
  let order = 0;
  const languageOf = (fields: object) => {
    const turn = {
      type: "Turn",
      turn_order: order++,
      end_of_turn: true,
      transcript: "ja",
      ...fields,
    };
    const words = reader.read(JSON.stringify(turn))?.find(({ kind }) => kind === "words");
    return words?.kind === "words" ? words.language : undefined;
  };
  assert.deepEqual(languageOf({ language_code: "de", language_confidence: 0.93 }), {
    code: "de",
    confidence: 0.93,
  });
  assert.deepEqual(languageOf({ language_code: "pt_BR", language_confidence: null }), {
    code: "pt",
  });
  for (const fields of [
    {},
    { language_code: null },
    { language_code: 3 },
    { language_code: " " },
  ]) {
    assert.equal(languageOf(fields), undefined);
  }
});

test("the catalog says which models tell languages apart", () => {
  assert.ok(Array.isArray(detectedLanguages("deepgram", "nova-3")));
  assert.equal(detectedLanguages("deepgram", "flux-general-en"), undefined);
  assert.equal(detectedLanguages("whisper", "Systran/faster-whisper-tiny"), "any");
  assert.equal(detectedLanguages("whisper", "Systran/faster-whisper-small.en"), undefined);
  assert.equal(detectedLanguages("openai-compatible", "any"), undefined);
  assert.ok(modelsThatDetectLanguages().includes("assemblyai/universal-streaming-multilingual"));
});

const SPOKEN = [
  { vendor: "deepgram", modelId: "nova-3" },
  { vendor: "deepgram", modelId: "flux-general-multi" },
  { vendor: "assemblyai", modelId: "universal-streaming-multilingual" },
  { vendor: "whisper", modelId: "Systran/faster-whisper-small" },
] as const;

describe("the language of what a simulated caller says", () => {
  let vendors: SandboxedVendors;
  let listener: RecordingListener;

  before(async () => {
    vendors = await startSandboxedVendors();
  });

  beforeEach(() => {
    listener = new RecordingListener(vendors.changes);
  });

  after(() => vendors.close());

  for (const { vendor, modelId } of SPOKEN) {
    it(`is told over the wire: ${vendor} ${modelId}`, async () => {
      const client = speechToText(vendor, vendors.settingsFor(vendor), vendors.context);
      const options = { ...BASE, modelId, otherLanguages: OTHERS };
      const stream = await client.open(options, listener, never());
      const hear = async (text: string, code: string) => {
        const pcm = encodeSpeech(text, 16_000);
        const sound = Buffer.concat([Buffer.from(pcm.buffer), Buffer.alloc(32 * 1_500)]);
        for (let at = 0; at < sound.length; at += 640) stream.write(sound.subarray(at, at + 640));
        await vendors.changes.until(
          `words in ${code}`,
          () => listener.transcripts.at(-1)?.language?.code === code,
        );
      };
      await hear("ich möchte einen Termin.", "de");
      await hear("what time is it.", "en");
      await hear("quiero una mesa por favor.", "es");
      stream.close();
    });
  }
});
