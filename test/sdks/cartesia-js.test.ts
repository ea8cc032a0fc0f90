import assert from "node:assert/strict";
import { after, beforeEach, test } from "node:test";
import { AuthenticationError, Cartesia } from "@cartesia/cartesia-js";
import { noFaults } from "../../engine/sandbox/faults.js";
import { startSandbox } from "../../engine/sandbox/sandbox.js";
import { samplesOf } from "../../engine/sandbox/telephone/telephone-audio.js";
import { decodeSpeech } from "../../engine/sandbox/telephone/tone-code.js";

const sandbox = await startSandbox({ apiKey: "good" });
const { faults, urls } = sandbox;
after(() => sandbox.close());
beforeEach(() => Object.assign(faults, noFaults()));

const options = { baseURL: urls.cartesia, maxRetries: 0 };
const client = new Cartesia({ ...options, token: "good" });
const stranger = new Cartesia({ ...options, token: "bad" });

const REQUEST = {
  model_id: "sonic-3.5",
  transcript: "Your table is booked.",
  voice: { mode: "id", id: "a0e99841-438c-4a64-b679-ae501e7d6091" },
  output_format: { container: "raw", encoding: "pcm_s16le", sample_rate: 24_000 },
} as const;

test("a sentence comes back as the sound of its words", async () => {
  const response = await client.tts.generate(REQUEST);
  const pcm = samplesOf(Buffer.from(await response.arrayBuffer()));

  assert.equal(decodeSpeech(pcm, 24_000), "Your table is booked.");
});

test("a wrong key and every refusal arrive as the SDK's errors", async () => {
  await assert.rejects(stranger.tts.generate(REQUEST), AuthenticationError);
  for (const [fault, status] of [
    ["badRequest", 400],
    ["quotaExceeded", 402],
    ["rateLimited", 429],
    ["serverError", 500],
  ] as const) {
    faults.cartesia = { fault, times: 1 };
    await assert.rejects(client.tts.generate(REQUEST), { status }, fault);
  }
});
