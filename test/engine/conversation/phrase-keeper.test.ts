import assert from "node:assert/strict";
import { test } from "node:test";
import { WEB_AUDIO } from "../../../engine/conversation/leg-audio.js";
import { PhraseKeeper } from "../../../engine/conversation/prepared-phrases.js";
import { SpeechCache } from "../../../engine/conversation/speech-cache.js";
import { speak } from "../../../engine/sandbox/sound/simulated-voice.js";
import { ScriptedVoice } from "../../doubles/scripted-voice.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";

const MP3_SOUND = { codec: "mp3", sampleRateHz: 24_000 } as const;
const UNDERWAY_MAX = 64;

test("so many phrases are asked for at a time, one more waits for another call, and all of one are one", async () => {
  const client = new ScriptedVoice();
  const format = WEB_AUDIO.sentenceFormat(client);
  const tts = { vendor: "scripted", client, modelId: "aria", speed: 1, language: "en", format };
  const keeper = new PhraseKeeper(new VirtualClock());
  const cache = new SpeechCache(0);
  const prepare = (n: number) =>
    keeper.prepare({ ...tts, cacheKey: "voice" }, `phrase ${n}`, cache);
  const asked = Array.from({ length: UNDERWAY_MAX }, (_, n) => prepare(n));
  assert.equal(prepare(0), asked[0]);
  assert.equal(client.syntheses.length, UNDERWAY_MAX);
  assert.equal(await prepare(UNDERWAY_MAX), undefined);
  assert.equal(client.syntheses.length, UNDERWAY_MAX);
  client.syntheses[0]?.give(await speak("phrase", MP3_SOUND));
  client.syntheses[0]?.finish();
  const spoken = await asked[0];
  assert.ok(spoken !== undefined && spoken.durationMs > 0);
  assert.equal(await prepare(0), spoken);
  void prepare(UNDERWAY_MAX);
  assert.equal(client.syntheses.length, UNDERWAY_MAX + 1, "there is room again");
});
