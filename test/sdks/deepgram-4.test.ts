import assert from "node:assert/strict";
import { after, beforeEach, test } from "node:test";
import { createClient, type DeepgramClient, isDeepgramError } from "deepgram-sdk-4";
import { noFaults } from "../../engine/sandbox/faults.js";
import { startSandbox } from "../../engine/sandbox/sandbox.js";
import { speechFrames, wavOf } from "./sdk-inputs.js";

const sandbox = await startSandbox({ apiKey: "good" });
const { faults, urls } = sandbox;
after(() => sandbox.close());
beforeEach(() => Object.assign(faults, noFaults()));

/** This SDK drops the path of a base address, so every call names where it goes. */
const LISTEN = "/deepgram/:version/listen";
const PROJECTS = "/deepgram/:version/projects";
const client = clientWith("good");
const stranger = clientWith("bad");

function clientWith(key: string): DeepgramClient {
  const live = { options: { url: urls.deepgram } };
  const rest = { options: { url: urls.deepgram.replace("ws:", "http:") } };
  return createClient(key, { global: { websocket: live, fetch: rest } });
}

interface Channel {
  readonly alternatives: readonly { readonly transcript: string }[];
}

test("words sent as tones come back as a transcript, live", async () => {
  const live = client.listen.live(
    {
      model: "nova-3",
      encoding: "linear16",
      sample_rate: 16_000,
      interim_results: true,
      endpointing: 200,
      vad_events: true,
    },
    LISTEN,
  );
  const finals: string[] = [];
  live.on("Results", (message: { is_final: boolean; channel: Channel }) => {
    if (message.is_final) finals.push(message.channel.alternatives[0]?.transcript ?? "");
  });
  const opened = new Promise((resolve) => {
    live.on("open", resolve);
  });
  const ended = new Promise((resolve) => {
    live.on("Metadata", resolve);
  });
  await opened;
  for (const frame of speechFrames("Where is my order?")) live.send(frame);
  live.keepAlive();
  live.finalize();
  live.requestClose();
  await ended;

  assert.deepEqual(finals, ["where is my order"], "without `punctuate`");
});

test("a recording is transcribed, in the vendor's containers and as raw samples", async () => {
  const text = "Where is my order?";
  const raw = Buffer.concat(speechFrames(text).map((frame) => Buffer.from(frame)));
  const { prerecorded } = client.listen;
  const asWav = await prerecorded.transcribeFile(wavOf(text), { model: "nova-3" }, LISTEN);
  const options = { model: "nova-3", encoding: "linear16", sample_rate: 16_000 };
  const asSamples = await prerecorded.transcribeFile(raw, options, LISTEN);

  for (const { result, error } of [asWav, asSamples]) {
    assert.equal(error, null);
    assert.equal(result?.results.channels[0]?.alternatives[0]?.transcript, text);
  }
});

test("projects, the key itself, and tokens", async () => {
  const { result } = await client.manage.getProjects(PROJECTS);
  const id = result?.projects[0]?.project_id ?? "";

  assert.equal(
    (await client.manage.getProject(id, `${PROJECTS}/:projectId`)).result?.name,
    "Sandbox",
  );
  assert.ok(
    (await client.manage.getTokenDetails("/deepgram/:version/auth/token")).result?.["api_key_id"],
  );
  assert.equal(
    (await client.auth.grantToken({}, "/deepgram/:version/auth/grant")).result?.expires_in,
    30,
  );
});

test("a wrong key and refusals arrive as the SDK's DeepgramApiError", async () => {
  const transcribe = async (asking: DeepgramClient): Promise<unknown> => {
    const options = { model: "nova-3" };
    return (await asking.listen.prerecorded.transcribeFile(wavOf("hi"), options, LISTEN)).error;
  };
  const assertRefused = (error: unknown, status: number): void => {
    assert.ok(isDeepgramError(error) && error.name === "DeepgramApiError");
    assert.ok("status" in error);
    assert.equal(error.status, status);
  };

  assertRefused(await transcribe(stranger), 401);
  assertRefused((await stranger.manage.getProjects(PROJECTS)).error, 401);
  faults.deepgram = { fault: "rateLimited", times: 1 };
  assertRefused(await transcribe(client), 429);
  faults.deepgram = { fault: "serverError", times: 1 };
  assertRefused(await transcribe(client), 503);
});

test("a refused stream is reported as an error, with its status where the SDK's socket knows it", async () => {
  const options = { model: "nova-3", encoding: "linear16", sample_rate: 16_000 };
  const live = stranger.listen.live(options, LISTEN);
  const refused = await new Promise((resolve) => {
    live.on("error", resolve);
  });

  // From Node 22 on the SDK takes Node's own WebSocket, which gives no status away.
  const hasStatus = !("WebSocket" in globalThis);
  assert.equal(Object(refused).statusCode, hasStatus ? 401 : undefined);
});
