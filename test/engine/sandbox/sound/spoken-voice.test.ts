import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  speak,
  speechSec,
  useSpokenVoice,
} from "../../../../engine/sandbox/sound/simulated-voice.js";
import {
  isReadable,
  SPEECH_CHARACTERS_MAX,
  SPEECH_KEPT_BYTES_MAX,
  SPEECH_WAITING_MAX,
  SpeechThread,
} from "../../../../engine/sandbox/sound/speech-thread-client.js";
import { timedWords } from "../../../../engine/sandbox/spoken-words.js";

const TEXT = "Hello, I am the demo agent.";
const notices: string[] = [];
let thread: SpeechThread | undefined;

before(async () => {
  thread = await SpeechThread.start((notice) => notices.push(notice));
});

after(() => thread?.close());

test("a text is spoken, and its length counts for the times of its words in every format", async () => {
  const tones = speechSec(TEXT);
  useSpokenVoice(thread);
  const pcm = await speak(TEXT, { codec: "pcm", sampleRateHz: 24_000 });
  const spokenSec = pcm.length / 48_000;
  assert.ok(spokenSec > 1 && spokenSec < 4 && spokenSec !== tones, `${spokenSec} s`);
  assert.ok(Math.abs(speechSec(TEXT) - spokenSec) < 0.001);
  const lastWord = timedWords(TEXT).at(-1);
  assert.ok(Math.abs((lastWord?.endMs ?? 0) - spokenSec * 1000) < 1);
  const telephone = await speak(TEXT, { codec: "mulaw", sampleRateHz: 8000 });
  assert.ok(Math.abs(telephone.length / 8000 - spokenSec) < 0.001);
  const mp3 = await speak(TEXT, { codec: "mp3", sampleRateHz: 22_050 });
  assert.ok(mp3.length > spokenSec * 5000);
  const slow = await thread?.speech(TEXT, 0.7);
  assert.ok((slow?.pcm.length ?? 0) / 16_000 > spokenSec * 1.2);
  useSpokenVoice(undefined);
  assert.equal(speechSec(TEXT), tones);
});

test("other scripts, long texts and a long queue are left to the tones, each with one notice", async () => {
  assert.equal(isReadable("Grüße, 24 Äpfel!"), true);
  assert.equal(isReadable("Hello, こんにちは"), false);
  assert.equal(await thread?.speech("こんにちは"), undefined);
  assert.equal(await thread?.speech("привет"), undefined);
  assert.equal(await thread?.speech("a".repeat(SPEECH_CHARACTERS_MAX + 1)), undefined);
  const asked = Array.from({ length: SPEECH_WAITING_MAX + 1 }, async (_, n) =>
    thread?.speech(`No ${n}.`),
  );
  const spoken = await Promise.all(asked);
  assert.equal(spoken.filter((sound) => sound === undefined).length, 1);
  assert.equal(notices.length, 2);
  assert.equal(SPEECH_KEPT_BYTES_MAX, 10_485_760);
});
