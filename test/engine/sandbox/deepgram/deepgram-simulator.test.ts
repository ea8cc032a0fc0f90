import assert from "node:assert/strict";
import { after, beforeEach, test } from "node:test";
import { WebSocket } from "ws";
import { noFaults } from "../../../../engine/sandbox/faults.js";
import { startSandbox } from "../../../../engine/sandbox/sandbox.js";
import { encodeMuLaw } from "../../../../engine/sandbox/telephone/telephone-audio.js";
import { encodeSpeech } from "../../../../engine/sandbox/telephone/tone-code.js";
import { humanVoice, join, silence } from "../sound.js";
import {
  ALL_ON,
  RawDeepgramClient,
  refusedUpgrade,
  storyOf,
  transcriptOf,
} from "./deepgram-client.js";

const sandbox = await startSandbox({ apiKey: "dg_key" });
const { faults } = sandbox;
const listenUrl = `${sandbox.urls.deepgram}/v1/listen`;
after(() => sandbox.close());
beforeEach(() => Object.assign(faults, noFaults()));

const RATE = 16_000;
const token = { authorization: "Token dg_key" };

function spoken(text: string, pauseMs = 400): Int16Array {
  return join(encodeSpeech(text, RATE), silence(pauseMs, RATE));
}

async function storyWhileHearing(pcm: Int16Array, query = ALL_ON): Promise<string[]> {
  const client = await RawDeepgramClient.open(sandbox.urls.deepgram, query);
  client.hear(pcm);
  return storyOf(await client.finish());
}

test("an utterance is reported as start, interims, speech-final, utterance end, and metadata at the close", async () => {
  const story = await storyWhileHearing(spoken("book a table for two people please", 1500));

  assert.deepEqual(story.slice(0, 2), ["SpeechStarted", "interim book"]);
  assert.ok(story.filter((line) => line.startsWith("interim")).length >= 2, story.join("\n"));
  assert.deepEqual(story.slice(-3), [
    "speech_final book a table for two people please",
    "UtteranceEnd",
    "Metadata",
  ]);
});

test("endpointing and utterance end count milliseconds of audio, not of the clock", async () => {
  const client = await RawDeepgramClient.open(
    sandbox.urls.deepgram,
    ALL_ON.replace("endpointing=200", "endpointing=500").replace("end_ms=1000", "end_ms=1500"),
  );
  client.hear(join(silence(500, RATE), spoken("yes", 2000)));
  const messages = await client.finish();
  const final = messages.find(({ speech_final }) => speech_final);
  const end = messages.find(({ type }) => type === "UtteranceEnd");
  const spokenUntil = 0.5 + 5 * 0.04;

  assert.equal(transcriptOf(final ?? { type: "none" }), "yes");
  const saidAt = (final?.start ?? 0) + (final?.duration ?? 0);
  assert.ok(Math.abs(saidAt - (spokenUntil + 0.5)) < 0.03, `speech-final at ${saidAt} s`);
  assert.ok(Math.abs((end?.last_word_end ?? 0) - (spokenUntil - 0.04)) < 0.03);
});

test("a long utterance has several finals, and only the last is speech-final", async () => {
  faults.deepgram = { segmentMs: 1000 };
  const text = "one two three four five six seven eight nine ten eleven twelve";
  const client = await RawDeepgramClient.open(sandbox.urls.deepgram);
  client.hear(spoken(text));
  const finals = (await client.finish()).filter(({ is_final }) => is_final);

  assert.ok(finals.length >= 2);
  assert.equal(finals.map(transcriptOf).join(" ").trim(), text);
  assert.deepEqual(
    finals.map(({ speech_final }) => speech_final),
    finals.map((_, n) => n === finals.length - 1),
  );
});

test("without interim_results and vad_events only finals come, without punctuate in small letters without marks", async () => {
  const query = "model=nova-3&encoding=linear16&sample_rate=16000&endpointing=100";

  for (const [more, words] of [
    ["", "hello paul"],
    ["&punctuate=true", "Hello, Paul!"],
    ["&smart_format=true", "Hello, Paul!"],
  ] as const) {
    const story = await storyWhileHearing(spoken("Hello, Paul!"), `${query}${more}`);
    assert.deepEqual(story, [`speech_final ${words}`, "Metadata"]);
  }
});

test("µ-law of 8 kHz is understood", async () => {
  const client = await RawDeepgramClient.open(
    sandbox.urls.deepgram,
    "model=nova-3&encoding=mulaw&sample_rate=8000&endpointing=200",
  );
  client.socket.send(encodeMuLaw(join(encodeSpeech("on the phone", 8000), silence(300, 8000))));

  assert.deepEqual(storyOf(await client.finish()), ["speech_final on the phone", "Metadata"]);
});

test("a human voice is reported by its length, with an interim while it lasts", async () => {
  const story = await storyWhileHearing(
    join(silence(200, RATE), humanVoice(1800, RATE), silence(500, RATE)),
  );

  assert.match(
    story.find((line) => line.startsWith("interim")) ?? "",
    /interim \[speech, \d\.\d s\]/,
  );
  assert.match(
    story.find((line) => line.startsWith("speech_final")) ?? "",
    /^speech_final \[speech, 1\.[789] s\]$/,
  );
});

test("samples may be cut in the middle", async () => {
  const client = await RawDeepgramClient.open(sandbox.urls.deepgram);
  const bytes = Buffer.from(spoken("odd bytes").buffer);
  for (let at = 0; at < bytes.length; at += 333) client.socket.send(bytes.subarray(at, at + 333));

  assert.ok(storyOf(await client.finish()).includes("speech_final odd bytes"));
});

test("in long silence empty finals come, and no turn", async () => {
  const story = await storyWhileHearing(silence(10_500, RATE));

  assert.deepEqual(story, ["final", "final", "Metadata"]);
});

test("Finalize flushes what was heard so far, and is not answered when that is nothing", async () => {
  const client = await RawDeepgramClient.open(sandbox.urls.deepgram);
  client.control("Finalize");
  client.hear(encodeSpeech("flush me now", RATE));
  client.control("Finalize");
  const flushed = await client.message(({ from_finalize }) => from_finalize === true);

  assert.equal(transcriptOf(flushed), "flush me now");
  assert.equal(flushed.speech_final, false);
  const all = await client.finish();
  assert.equal(all.filter(({ from_finalize }) => from_finalize).length, 1);
});

test("an empty binary frame ends the stream as CloseStream does", async () => {
  const client = await RawDeepgramClient.open(sandbox.urls.deepgram);
  client.socket.send(Buffer.alloc(0));

  assert.equal((await client.closed).code, 1000);
  assert.deepEqual(storyOf(client.messages), ["Metadata"]);
});

test("a stream without messages is closed with NET-0001, one with keep-alives only with NET-0000", async () => {
  faults.deepgram = { idleTimeoutMs: 40, noAudioTimeoutMs: 10_000 };
  const idle = await RawDeepgramClient.open(sandbox.urls.deepgram);
  const idleEnd = await idle.closed;
  faults.deepgram = { idleTimeoutMs: 10_000, noAudioTimeoutMs: 40 };
  const deaf = await RawDeepgramClient.open(sandbox.urls.deepgram);
  deaf.control("KeepAlive");
  const deafEnd = await deaf.closed;

  assert.equal(idleEnd.code, 1011);
  assert.match(idleEnd.reason, /NET-0001/);
  assert.equal(deafEnd.code, 1011);
  assert.match(deafEnd.reason, /NET-0000/);
});

test("text that is no control message closes with 1008", async () => {
  const client = await RawDeepgramClient.open(sandbox.urls.deepgram);
  client.socket.send("UklGRg==");
  const { code, reason } = await client.closed;

  assert.equal(code, 1008);
  assert.match(reason, /DATA-0000/);
});

test("a refused handshake has its reason in the body and in dg-error, and an id", async () => {
  const wrongKey = await refusedUpgrade(`${listenUrl}?${ALL_ON}`, { authorization: "Token no" });
  const noKey = await refusedUpgrade(`${listenUrl}?${ALL_ON}`, {});

  assert.equal(noKey.status, 401);
  assert.equal(wrongKey.status, 401);
  assert.equal(wrongKey.headers["dg-error"], "Invalid credentials.");
  const { err_code: code, request_id: id } = JSON.parse(wrongKey.body);
  assert.equal(code, "INVALID_AUTH");
  assert.equal(id, wrongKey.headers["dg-request-id"]);
});

test("parameters that the vendor refuses are refused", async () => {
  const queries = [
    ALL_ON.replace("end_ms=1000", "end_ms=700"),
    ALL_ON.replace("interim_results=true", "interim_results=false"),
    ALL_ON.replace("sample_rate=16000", "x=1"),
    ALL_ON.replace("vad_events=true", "vad_events=1"),
    `${ALL_ON}&keywords=parley:2`,
    ALL_ON.replace("linear16", "opus"),
    ALL_ON.replace("endpointing=200", "endpointing=soon"),
    ALL_ON.replace("model=nova-3&", ""),
    `${ALL_ON}&channels=2`,
  ];
  for (const query of queries) {
    const refused = await refusedUpgrade(`${listenUrl}?${query}`, token);
    assert.equal(refused.status, 400, query);
    assert.ok(refused.headers["dg-error"], query);
  }
  assert.equal((await refusedUpgrade(`${sandbox.urls.deepgram}/v3/listen?x`, token)).status, 404);
});

test("a browser may give its key as a subprotocol", async () => {
  const socket = new WebSocket(`${listenUrl}?${ALL_ON}`, ["token", "dg_key"]);
  await new Promise((resolve) => {
    socket.once("open", resolve);
  });

  assert.equal(socket.protocol, "token");
  socket.terminate();
});
