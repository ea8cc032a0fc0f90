import assert from "node:assert/strict";
import { test } from "node:test";
import { readAssemblyAiOptions } from "../../../engine/sandbox/assemblyai/assemblyai-simulator.js";
import { readStreamOptions } from "../../../engine/sandbox/deepgram/deepgram-handshake.js";
import { readFluxOptions } from "../../../engine/sandbox/deepgram/flux-stream.js";
import { assemblyAiDialect } from "../../../engine/vendors/assemblyai/assemblyai.js";
import type { ListenOptions } from "../../../engine/vendors/contracts.js";
import { fluxDialect } from "../../../engine/vendors/deepgram/deepgram-flux.js";
import { novaDialect } from "../../../engine/vendors/deepgram/deepgram-nova.js";

const MANY = Array.from({ length: 150 }, (_, index) => `Term number ${index}`);

function queryOf(
  dialect: { target(options: ListenOptions): string },
  modelId: string,
  keyterms?: readonly string[],
): URLSearchParams {
  const format = { encoding: "pcm16", sampleRateHz: 16_000 } as const;
  const options = { language: "en", modelId, format, endpointingMs: 200 };
  const target = dialect.target(keyterms === undefined ? options : { ...options, keyterms });
  return new URL(target, "wss://vendor.example.com").searchParams;
}

const flux = fluxDialect({});
const assemblyAi = assemblyAiDialect({});

test("terms are sent as each vendor wants them, and only to models that take them", () => {
  const terms = ["Nguyen", "New York"];
  assert.deepEqual(queryOf(novaDialect(), "nova-3", terms).getAll("keyterm"), terms);
  assert.deepEqual(queryOf(novaDialect(), "nova-3-medical", terms).getAll("keyterm"), terms);
  assert.deepEqual(queryOf(novaDialect(), "nova-2", terms).getAll("keyterm"), []);
  assert.deepEqual(queryOf(flux, "flux-general-en", terms).getAll("keyterm"), terms);
  const prompt = queryOf(assemblyAi, "universal-3-6-pro", terms).get("keyterms_prompt");
  assert.equal(prompt, JSON.stringify(terms));
  for (const query of [queryOf(novaDialect(), "nova-3"), queryOf(flux, "flux-general-en", [])]) {
    assert.equal(query.has("keyterm"), false);
  }
  assert.equal(queryOf(assemblyAi, "universal-3-6-pro", []).has("keyterms_prompt"), false);
});

test("no more is sent than a vendor takes, and what is sent is taken", () => {
  const nova = queryOf(novaDialect(), "nova-3", MANY);
  assert.ok(nova.getAll("keyterm").length >= 80);
  assert.ok(!("status" in readStreamOptions(nova)));
  assert.ok(!("status" in readFluxOptions(queryOf(flux, "flux-general-en", MANY))));
  const long = "x".repeat(51);
  const prompt = queryOf(assemblyAi, "universal-3-6-pro", [long, ...MANY]);
  assert.equal(JSON.parse(prompt.get("keyterms_prompt") ?? "").length, 100);
  assert.notEqual(typeof readAssemblyAiOptions(prompt), "string");
});

test("the simulators refuse what the vendors refuse", () => {
  const nova = queryOf(novaDialect(), "nova-3");
  for (const term of Array.from({ length: 200 }, (_, index) => `Some long name ${index}`)) {
    nova.append("keyterm", term);
  }
  assert.deepEqual(readStreamOptions(nova), {
    status: 400,
    code: "INVALID_QUERY_PARAMETER",
    message: "keyterm: more than 500 tokens",
  });
  const old = queryOf(novaDialect(), "nova-2");
  old.append("keyterm", "Nguyen");
  assert.ok("status" in readStreamOptions(old));
  for (const prompt of ["Nguyen", JSON.stringify(["x".repeat(51)]), JSON.stringify(MANY)]) {
    const query = queryOf(assemblyAi, "universal-3-6-pro");
    query.set("keyterms_prompt", prompt);
    const refusal = readAssemblyAiOptions(query);
    assert.ok(typeof refusal === "string");
    assert.match(refusal, /^keyterms_prompt is/);
  }
});
