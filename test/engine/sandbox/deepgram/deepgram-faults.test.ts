import assert from "node:assert/strict";
import { after, beforeEach, test } from "node:test";
import { noFaults } from "../../../../engine/sandbox/faults.js";
import { startSandbox } from "../../../../engine/sandbox/sandbox.js";
import { encodeSpeech } from "../../../../engine/sandbox/telephone/tone-code.js";
import { join, silence } from "../sound.js";
import { ALL_ON, RawDeepgramClient, refusedUpgrade, storyOf } from "./deepgram-client.js";

const sandbox = await startSandbox();
const { faults } = sandbox;
const listenUrl = `${sandbox.urls.deepgram}/v1/listen`;
after(() => sandbox.close());
beforeEach(() => Object.assign(faults, noFaults()));

const RATE = 16_000;
const token = { authorization: "Token any" };

function spoken(text: string, pauseMs = 400): Int16Array {
  return join(encodeSpeech(text, RATE), silence(pauseMs, RATE));
}

async function storyWhileHearing(pcm: Int16Array): Promise<string[]> {
  const client = await RawDeepgramClient.open(sandbox.urls.deepgram);
  client.hear(pcm);
  return storyOf(await client.finish());
}

test("faults of the handshake occur as often as configured", async () => {
  const statuses = new Map([
    ["unauthorized", 401],
    ["paymentRequired", 402],
    ["forbidden", 403],
    ["rateLimited", 429],
    ["serverError", 503],
  ] as const);
  for (const [fault, status] of statuses) {
    faults.deepgram = { fault, times: 1 };
    assert.equal((await refusedUpgrade(`${listenUrl}?${ALL_ON}`, token)).status, status);
  }
  assert.deepEqual(faults.deepgram, {});
  assert.deepEqual(await storyWhileHearing(silence(100, RATE)), ["Metadata"]);
});

test("faults of hearing: each spoils what its name says", async () => {
  const said = spoken("never mind this", 1500);
  const storyOfFault = async (fault: NonNullable<typeof faults.deepgram.fault>, pcm = said) => {
    faults.deepgram = { fault };
    return (await storyWhileHearing(pcm)).filter((line) => line !== "Metadata");
  };

  const never = await storyOfFault("neverSpeechFinal");
  assert.deepEqual(never.slice(-2), ["final never mind this", "UtteranceEnd"]);
  const utteranceEnd = await storyOfFault("utteranceEndOnly");
  assert.ok(utteranceEnd.every((line) => !line.includes("final")));
  assert.deepEqual(utteranceEnd.slice(-2), ["interim never mind this", "UtteranceEnd"]);
  const double = await storyOfFault("doubleSpeechFinal");
  assert.deepEqual(double.slice(-3), [
    "speech_final never mind",
    "speech_final this",
    "UtteranceEnd",
  ]);
  assert.ok(
    (await storyOfFault("emptyFinals")).filter((line) => line === "speech_final").length >= 2,
  );
  assert.deepEqual(await storyOfFault("falseSpeechStarted", silence(2000, RATE)), [
    "SpeechStarted",
    "SpeechStarted",
  ]);
  const stale = await storyOfFault("staleUtteranceEnd");
  assert.equal(stale.indexOf("UtteranceEnd"), 1);
  assert.ok((await storyOfFault("unknownMessages")).includes("Weather"));
  assert.deepEqual(await storyOfFault("silent"), []);
});

test("flags may be missing, and JSON may be broken", async () => {
  faults.deepgram = { fault: "missingFlags" };
  const client = await RawDeepgramClient.open(sandbox.urls.deepgram);
  client.hear(spoken("hello"));
  const interim = (await client.finish()).find(({ type }) => type === "Results");
  faults.deepgram = { fault: "garbageJson", times: 1 };
  const garbled = await RawDeepgramClient.open(sandbox.urls.deepgram);
  garbled.hear(spoken("hello"));
  garbled.control("CloseStream");
  await garbled.closed;

  assert.equal(interim?.is_final, undefined);
  assert.throws(() => garbled.messages);
});

test("a stream is dropped, closed or refused in the middle of a call, at once", async () => {
  const codes = new Map([
    ["dropMidCall", 1006],
    ["closeMidCall", 1011],
    ["refuseAudio", 1008],
  ] as const);
  for (const [fault, code] of codes) {
    const client = await RawDeepgramClient.open(sandbox.urls.deepgram);
    client.hear(spoken("before"));
    await client.message(({ speech_final }) => speech_final === true);
    faults.deepgram = { fault, times: 1 };
    client.hear(silence(20, RATE));

    assert.equal((await client.closed).code, code);
    assert.deepEqual(faults.deepgram, {});
  }
});

test("events come after the latency that is set, and in order", async () => {
  faults.deepgram = { latencyMs: 50 };
  const client = await RawDeepgramClient.open(sandbox.urls.deepgram);
  const startMs = performance.now();
  client.hear(spoken("late but in order"));
  await client.message(({ type }) => type === "SpeechStarted");
  const waitedMs = performance.now() - startMs;
  faults.deepgram = {};
  const story = storyOf(await client.finish());

  assert.ok(waitedMs >= 45, `${waitedMs} ms`);
  assert.deepEqual(story.slice(-2), ["speech_final late but in order", "Metadata"]);
});

test("only after that many streams: the fault begins with the configured one", async () => {
  faults.deepgram = { fault: "rateLimited", after: 1, times: 1 };

  assert.deepEqual(await storyWhileHearing(silence(100, RATE)), ["Metadata"]);
  assert.equal((await refusedUpgrade(`${listenUrl}?${ALL_ON}`, token)).status, 429);
  assert.deepEqual(await storyWhileHearing(silence(100, RATE)), ["Metadata"]);
});

test("Finalize and CloseStream may stay without an answer, and a handshake too", async () => {
  faults.deepgram = { fault: "noAnswerToFinalize" };
  const client = await RawDeepgramClient.open(sandbox.urls.deepgram);
  client.hear(encodeSpeech("flush me", RATE));
  client.control("Finalize");
  client.hear(silence(300, RATE));
  await client.message(({ speech_final }) => speech_final === true);
  assert.ok(client.messages.every(({ from_finalize }) => from_finalize !== true));

  faults.deepgram = { fault: "noAnswerToClose", times: 1 };
  client.control("CloseStream");
  client.hear(spoken("still here"));
  await client.message((message) => storyOf([message])[0] === "speech_final still here");
  client.socket.terminate();

  faults.deepgram = { fault: "stallHandshake", times: 1 };
  const opening = RawDeepgramClient.open(sandbox.urls.deepgram).then(() => "opened");
  assert.equal(
    await Promise.race([opening, storyWhileHearing(spoken("me first"))]).then(String),
    "SpeechStarted,interim me,speech_final me first,Metadata",
  );
  opening.catch(() => undefined);
});
