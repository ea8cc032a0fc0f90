import assert from "node:assert/strict";
import { after, beforeEach, test } from "node:test";
import { Deepgram, DeepgramClient, DeepgramError } from "@deepgram/sdk";
import { noFaults } from "../../engine/sandbox/faults.js";
import { startSandbox } from "../../engine/sandbox/sandbox.js";
import { speechFrames, wavOf } from "./sdk-inputs.js";

const sandbox = await startSandbox({ apiKey: "good" });
const { faults, urls } = sandbox;
after(() => sandbox.close());
beforeEach(() => Object.assign(faults, noFaults()));

const production = urls.deepgram;
const base = production.replace("ws:", "http:");
const environment = { base, production, agent: production, agentRest: base };
const client = new DeepgramClient({ apiKey: "good", environment, maxRetries: 0 });
const stranger = new DeepgramClient({ apiKey: "bad", environment, maxRetries: 0 });

test("words sent as tones come back as a transcript, live", async () => {
  const socket = await client.listen.v1.connect({
    model: "nova-3",
    encoding: "linear16",
    sample_rate: 16_000,
    interim_results: "true",
    endpointing: 200,
    utterance_end_ms: 1000,
    vad_events: "true",
    punctuate: "true",
    reconnectAttempts: 0,
  });
  const story: string[] = [];
  const ended = new Promise<void>((resolve) => {
    socket.on("message", (message) => {
      if (message.type !== "Results") story.push(message.type);
      else if (message.is_final === true) {
        story.push(message.channel.alternatives[0]?.transcript ?? "");
      }
      if (message.type === "Metadata") resolve();
    });
  });
  socket.connect();
  await socket.waitForOpen();
  for (const frame of speechFrames("Where is my order?")) socket.sendMedia(frame);
  socket.sendKeepAlive({ type: "KeepAlive" });
  socket.sendFinalize({ type: "Finalize" });
  socket.sendCloseStream({ type: "CloseStream" });
  await ended;
  socket.close();

  assert.deepEqual(story, ["SpeechStarted", "Where is my order?", "Metadata"]);
});

test("Flux tells the SDK the caller's turns, and takes other thresholds in between", async () => {
  const socket = await client.listen.v2.connect({
    model: "flux-general-en",
    encoding: "linear16",
    sample_rate: 16_000,
    eager_eot_threshold: 0.4,
    reconnectAttempts: 0,
  });
  const story: string[] = [];
  const closed = new Promise<void>((resolve) => {
    socket.on("close", () => resolve());
  });
  const configured = new Promise<void>((resolve) => {
    socket.on("message", (message) => {
      if (message.type === "ConfigureSuccess") resolve();
      if (message.type !== "TurnInfo") story.push(message.type);
      else if (message.event !== "Update") story.push(`${message.event}: ${message.transcript}`);
    });
  });
  socket.connect();
  await socket.waitForOpen();
  socket.sendConfigure({ type: "Configure", thresholds: { eot_timeout_ms: 3000 } });
  await configured;
  for (const frame of speechFrames("Where is my order")) socket.sendMedia(frame);
  socket.sendMedia(new Uint8Array(16_000 * 2));
  socket.sendCloseStream({ type: "CloseStream" });
  await closed;

  assert.deepEqual(story, [
    "Connected",
    "ConfigureSuccess",
    "StartOfTurn: Where",
    "EagerEndOfTurn: Where is my order",
    "EndOfTurn: Where is my order",
  ]);
});

test("Aura speaks to the SDK over a WebSocket, and clears what was not flushed", async () => {
  const socket = await client.speak.v1.connect({
    model: "aura-2-thalia-en",
    encoding: "linear16",
    sample_rate: "24000",
    reconnectAttempts: 0,
  });
  const story: string[] = [];
  let receivedBytes = 0;
  const flushed = new Promise<void>((resolve) => {
    socket.on("message", (message) => {
      if (message instanceof Blob) receivedBytes += message.size;
      else if (message instanceof ArrayBuffer) receivedBytes += message.byteLength;
      else if (typeof message === "object") story.push(message.type);
      if (story.at(-1) === "Flushed") resolve();
    });
  });
  socket.connect();
  await socket.waitForOpen();
  socket.sendText({ type: "Speak", text: "Never mind." });
  socket.sendClear({ type: "Clear" });
  socket.sendText({ type: "Speak", text: "Your table is booked." });
  socket.sendFlush({ type: "Flush" });
  await flushed;
  socket.close();

  assert.deepEqual(story, ["Metadata", "Cleared", "Flushed"]);
  assert.ok(receivedBytes > 24_000);
});

test("a recording is transcribed, with its words in their places", async () => {
  const request = { model: "nova-3", smart_format: true, utterances: true };
  const heard = await client.listen.v1.media.transcribeFile(wavOf("Where is my order?"), request);
  assert.ok("results" in heard);
  const [alternative] = heard.results.channels[0]?.alternatives ?? [];

  assert.equal(alternative?.transcript, "Where is my order?");
  assert.deepEqual(
    alternative.words?.map(({ word }) => word),
    ["where", "is", "my", "order"],
  );
  assert.equal(heard.results.utterances?.[0]?.transcript, "Where is my order?");
  assert.ok((heard.metadata.duration ?? 0) > 0.5);
});

test("what is no recording, and one that is elsewhere, are bad requests", async () => {
  const { media } = client.listen.v1;
  const noise = Buffer.from("no sound at all");
  const elsewhere = { url: "https://example.com/speech.wav", model: "nova-3" as const };

  await assert.rejects(media.transcribeFile(noise, { model: "nova-3" }), Deepgram.BadRequestError);
  await assert.rejects(media.transcribeUrl(elsewhere), Deepgram.BadRequestError);
});

test("projects, models and tokens", async () => {
  const { projects } = await client.manage.v1.projects.list();
  const id = projects?.[0]?.project_id ?? "";
  const { stt } = await client.manage.v1.models.list();

  assert.equal((await client.manage.v1.projects.get(id)).name, "Sandbox");
  assert.equal(stt?.[0]?.name, "nova-3");
  assert.equal((await client.auth.v1.tokens.grant()).expires_in, 30);
  await assert.rejects(client.manage.v1.projects.get("nobody"), { statusCode: 404 });
});

test("a wrong key and every refusal arrive as the SDK's DeepgramError", async () => {
  const transcribe = (asking = client) =>
    asking.listen.v1.media.transcribeFile(wavOf("hi"), { model: "nova-3" });
  const statuses = [
    ["unauthorized", 401],
    ["paymentRequired", 402],
    ["forbidden", 403],
    ["rateLimited", 429],
    ["serverError", 503],
  ] as const;
  const isError = (statusCode: number) => (error: unknown) =>
    error instanceof DeepgramError && error.statusCode === statusCode;

  await assert.rejects(transcribe(stranger), isError(401));
  await assert.rejects(stranger.manage.v1.projects.list(), isError(401));
  for (const [fault, status] of statuses) {
    faults.deepgram = { fault, times: 1 };
    await assert.rejects(transcribe(), isError(status), fault);
  }
});

test("a refused stream is told as an error", async () => {
  const socket = await stranger.listen.v1.connect({
    model: "nova-3",
    encoding: "linear16",
    sample_rate: 16_000,
    reconnectAttempts: 0,
  });
  const refused = new Promise<Error>((resolve) => {
    socket.on("error", resolve);
  });
  socket.connect();

  assert.match((await refused).message, /401/);
  socket.close();
});

test("after a refusal with retry-after the SDK waits that long and asks again", async () => {
  const patient = new DeepgramClient({ apiKey: "good", environment, maxRetries: 1 });
  faults.deepgram = { fault: "rateLimited", times: 1 };
  const startMs = performance.now();
  await patient.manage.v1.projects.list();

  assert.ok(performance.now() - startMs >= 990);
});
