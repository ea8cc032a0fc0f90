import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { Caller } from "../../engine/sandbox/caller.js";
import { STREAMED_FORMATS } from "../../engine/sandbox/sound/raw-audio.js";
import { decodeSpeech } from "../../engine/sandbox/telephone/tone-code.js";
import { readStereo, recordedCall } from "./call-recordings.js";
import { closeOf, ended, repliesOf, spoke, stopped } from "./events.js";
import { RawClient } from "./raw-client.js";
import { type AgentVendorKeys, type Customer, TestServer } from "./test-server.js";
import { gapsToldOf } from "./told-gaps.js";
import { withUnendedVoice } from "./unended-voice.js";

const SENTENCE =
  "This is one long sentence that goes on and on until everybody knows how it is going to end.";
const TWO_SENTENCES = "Good morning, this is the front desk. How can I help you today?";
const ENCODINGS = [
  { encoding: "pcm24k", sampleRateHz: 24_000, pieceBytesMax: 4_800 },
  { encoding: "pcm16k", sampleRateHz: 16_000, pieceBytesMax: 3_200 },
  { encoding: "mulaw", sampleRateHz: 8_000, pieceBytesMax: 800 },
] as const;
/** A voice of PCM, one of MP3 that is decoded, and one of PCM and µ-law. */
const VOICES = [
  { tts: "openai", knob: "openaiSpeech" },
  { tts: "edge", knob: "edge" },
  { tts: "elevenlabs", knob: "elevenlabs" },
] as const;
/** Nothing is played. */
const FOREVER_MS = 600_000;

let server: TestServer;
before(async () => {
  server = await TestServer.start();
});
after(() => server.close());

async function greeted(
  greeting: string,
  vendors: AgentVendorKeys = {},
  changes = {},
): Promise<Customer> {
  const customer = await server.customer();
  await server.agent(customer, { persona: { greeting }, ...changes }, vendors);
  return customer;
}

async function heardBy(caller: Caller): Promise<readonly string[]> {
  return (await caller.playedReplies()).map(({ text }) => text);
}

for (const { tts, knob } of VOICES) {
  test(`a sentence of ${tts} is played before TTS has sent its end, and is heard completely`, async () => {
    const first = await greeted(SENTENCE, { tts });
    await withUnendedVoice(server, knob, async () => {
      const caller = await server.call(first, { stream: "pcm24k" });
      if (!caller.events.some(spoke)) await caller.until(spoke);
      await caller.hangUp();
      await server.endedCall(first);
    });
    const customer = await greeted(SENTENCE, { tts });
    const caller = await server.call(customer, { stream: "pcm24k" });
    await caller.until(ended);
    assert.deepEqual(await heardBy(caller), [SENTENCE]);
    await caller.hangUp();
    const { transcript } = await server.endedCall(customer);
    assert.deepEqual(
      transcript.map(({ text }) => text),
      [SENTENCE],
    );
  });
}

describe("the requested format arrives", { concurrency: true }, () => {
  for (const { encoding, sampleRateHz, pieceBytesMax } of ENCODINGS) {
    for (const tts of ["openai", "edge", "elevenlabs"] as const) {
      test(`${encoding} from the voice of ${tts}`, async () => {
        const customer = await greeted(TWO_SENTENCES, { tts });
        const caller = await server.call(customer, { stream: encoding });
        await caller.until(ended);
        const [start, ...others] = caller.events.filter(({ type }) => type === "audioStart");
        assert.deepEqual(others, [], "one for each turn");
        assert.deepEqual(start, {
          ...start,
          type: "audioStart",
          turnId: 1,
          encoding,
          sampleRateHz,
        });
        const sounds = caller.events.flatMap((event) =>
          event.type === "audio" ? [event.sound] : [],
        );
        const { bytesPerSample } = STREAMED_FORMATS[encoding];
        for (const { byteLength } of sounds) {
          assert.ok(byteLength > 0 && byteLength <= pieceBytesMax, `${byteLength} bytes`);
          assert.equal(byteLength % bytesPerSample, 0);
        }
        assert.deepEqual(await heardBy(caller), [TWO_SENTENCES]);
        await caller.hangUp();
      });
    }
  }

  test("without an encoding the audio is PCM at 24 kHz, and `encoding` alone changes nothing", async () => {
    const customer = await greeted("Hello.");
    const streamed = new RawClient(server, customer, "&audio=stream");
    const start = await streamed.text(/audioStart/);
    assert.equal(
      start,
      '{"type":"audioStart","turnId":1,"encoding":"pcm24k","sampleRateHz":24000}',
    );
    await streamed.text(/audioEnd/);
    const whole = new RawClient(server, customer, "&encoding=mulaw&audio=");
    await whole.text(/audioEnd/);
    assert.equal(whole.frames.filter((frame) => typeof frame === "number").length, 1);
    assert.doesNotMatch(whole.texts.join(), /audioStart/);
    streamed.drop();
    whole.drop();
  });
});

test("an interruption stops the stream at once, and nothing of the sentence follows", async () => {
  const customer = await greeted("");
  const caller = await server.call(customer, { stream: "pcm24k" });
  await caller.say("count to 40");
  await caller.until(spoke);
  await caller.play("a second of listening", Buffer.alloc(32_000));
  const stop = caller.until(stopped);
  await caller.say("say ok");
  await stop;
  await caller.until(ended);
  let playing = 0;
  let stoppedTurn = 0;
  for (const event of caller.events) {
    if (event.type === "audioStart") playing = event.turnId;
    if (event.type === "audioStop") [stoppedTurn, playing] = [playing, 0];
    if (event.type !== "audio") continue;
    assert.ok(
      playing > stoppedTurn,
      "after a stop, audio follows only the `audioStart` of a newer turn",
    );
  }
  assert.ok(stoppedTurn > 0);
  const replies = repliesOf(caller);
  assert.equal(replies.at(-1), "ok");
  assert.doesNotMatch(replies.join(" "), /Number 40/);
  await caller.hangUp();
});

test("the transcript has the text that the client reports as played, not all that was sent", async () => {
  const customer = await greeted(SENTENCE);
  const caller = await server.call(customer, { stream: "pcm24k", bufferMs: FOREVER_MS });
  if (!caller.events.some(spoke)) await caller.until(spoke);
  const stop = caller.until(stopped);
  await caller.play("two seconds of listening", Buffer.alloc(64_000));
  await caller.say("say ok");
  await stop;
  await caller.until(({ type }) => type === "audioStart");
  await caller.hangUp();
  const { transcript } = await server.endedCall(customer);
  assert.equal(transcript[0]?.role, "user", JSON.stringify(transcript));
});

test("a sentence that was said before comes from the cache", async () => {
  const customer = await greeted("We have met before.");
  const asked = () =>
    server.sandbox.journal.filter(
      ({ vendor, kind, text }) =>
        vendor === "openaiSpeech" && kind === "request" && text === "We have met before.",
    ).length;
  for (let call = 0; call < 4; call += 1) {
    const caller = await server.call(customer, { stream: "pcm24k" });
    await caller.until(ended);
    assert.deepEqual(await heardBy(caller), ["We have met before."]);
    await caller.hangUp();
  }
  assert.equal(asked(), 2, "the vendor gets two requests, then the cache is used");
});

test("gaps of a slow TTS are in the call's record and in the metrics", async () => {
  const customer = await greeted(SENTENCE, { tts: "elevenlabs" });
  server.sandbox.faults.elevenlabs = { realTimeFactor: 0.5, chunkMs: 200 };
  const gaps = await gapsToldOf(server, customer, async () => {
    const caller = await server.call(customer, { stream: "pcm24k" });
    await caller.until(ended);
    await caller.hangUp();
  });
  server.sandbox.faults.elevenlabs = {};
  assert.ok(gaps > 0);
});

test("a recording contains the streamed voice, whatever its encoding", async (context) => {
  // A voice that sends a sentence at once causes no gap, even on a busy machine; the recording would contain it, too.
  server.sandbox.faults.openaiSpeech = { realTimeFactor: 0, chunkMs: 10_000 };
  context.after(() => {
    server.sandbox.faults.openaiSpeech = {};
  });
  for (const stream of ["pcm24k", "pcm16k", "mulaw"] as const) {
    const recording = { enabled: true, retentionDays: 7 };
    const customer = await greeted("Hello there, caller.", {}, { recording });
    const caller = await server.call(customer, { stream });
    await caller.until(ended);
    await caller.say("say thank you");
    await caller.until(ended);
    await caller.hangUp();
    const call = await recordedCall(server, customer);
    const { rateHz, left, right } = await readStereo(server, call, customer);
    assert.equal(rateHz, 16_000);
    assert.equal(decodeSpeech(left, rateHz), "say thank you");
    assert.equal(decodeSpeech(right, rateHz), "Hello there, caller. thank you", stream);
  }
});

describe("bad input", { concurrency: true }, () => {
  const REFUSED = [
    ["audio=mp3", 'audio: expected "stream", or nothing'],
    [`audio=${"x".repeat(2_000)}`, 'audio: expected "stream", or nothing'],
    ["audio=stream&encoding=opus", 'encoding: expected one of "pcm24k", "pcm16k", "mulaw"'],
    ["audio=stream&encoding=toString", 'encoding: expected one of "pcm24k", "pcm16k", "mulaw"'],
  ] as const;
  for (const [query, reason] of REFUSED) {
    test(`a connection with ${query.slice(0, 40)} is refused, with the reason`, async () => {
      const customer = await greeted("Hello.");
      const client = new RawClient(server, customer, `&${query}`);
      assert.deepEqual(await client.closed, { code: 1008, reason });
      assert.deepEqual(client.texts, [
        JSON.stringify({ type: "error", payload: { message: reason, code: "invalid_request" } }),
      ]);
      assert.deepEqual(await server.calls(customer), []);
    });
  }

  test("a client without a key learns nothing about parameters", async () => {
    const caller = server.dial(
      { ...(await server.customer()), apiKey: "vk_wrong" },
      {
        url: `${server.url}/?audio=mp3`,
      },
    );
    assert.equal((await closeOf(caller)).code, 4001);
  });

  test("an invalid progress report gets an error that names the field, and the call continues", async () => {
    const customer = await greeted("Hello there.");
    const client = new RawClient(server, customer, "&audio=stream");
    await client.text(/audioStart/);
    const faults: [report: string, fault: RegExp][] = [
      ["", /message: expected a JSON object/],
      ["hello", /message: expected a JSON object/],
      ["[]", /message: expected a JSON object/],
      ["null", /message: expected a JSON object/],
      ['{"type":"paused"}', /type: expected .*played/],
      ['{"type":"played","turnId":"1","ms":0}', /turnId: expected .*a whole number/],
      ['{"type":"played","turnId":1}', /ms: expected .*a number/],
      ['{"type":"played","turnId":1,"ms":-1}', /ms: expected .*a number/],
      ['{"type":"played","turnId":1,"ms":null}', /ms: expected .*a number/],
      ['{"type":"played","turnId":2,"ms":0}', /turnId: expected the `turnId` of an `audioStart`/],
      ['{"type":"played","turnId":1,"ms":86400000}', /ms: expected at most the \d+ ms/],
      [
        `{"type":"played","padding":"${"x".repeat(33_000)}"}`,
        /message: expected at most 32768 bytes/,
      ],
    ];
    for (const [report, fault] of faults) {
      client.send(report);
      await client.text(fault);
    }
    await client.text(/audioEnd/);
    const errors = client.texts.filter((text) => text.startsWith('{"type":"error"'));
    assert.equal(errors.length, faults.length);
    client.drop();
    assert.equal((await server.endedCall(customer)).status, "completed");
  });
});
