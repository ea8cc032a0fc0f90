import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { type Sandbox, startSandbox } from "../../engine/sandbox/sandbox.js";
import { CATEGORIES } from "../../engine/vendors/vendor.js";
import { VENDORS } from "../../engine/vendors/vendors.js";
import { Changes } from "../doubles/changes.js";
import { RecordingLogger } from "../doubles/recording-logger.js";
import { closeOf, ended, textOf, understood } from "./events.js";
import { heard, ring } from "./telephone-stand.js";
import { type AgentVendorKeys, TestServer, VENDOR_KEY } from "./test-server.js";

const GREETING = "Hello there. What can I do for you?";
/** Each vendor has an address of its own for everything that it offers. */
const CALLS: readonly Required<AgentVendorKeys>[] = [
  { llm: "openai", tts: "openai", stt: "deepgram" },
  { llm: "groq", tts: "elevenlabs", stt: "assemblyai" },
  { llm: "ollama", tts: "edge", stt: "whisper" },
  { llm: "anthropic", tts: "cartesia", stt: "deepgram" },
  { llm: "gemini", tts: "deepgram", stt: "assemblyai" },
  { llm: "mistral", tts: "kokoro", stt: "whisper" },
  { llm: "openrouter", tts: "openai", stt: "deepgram" },
];

let sandbox: Sandbox;
let folder: string;
let caFile: string;
const changes = new Changes();
before(async () => {
  sandbox = await startSandbox({ tls: true, journal: true, onChange: changes.tell });
  folder = await mkdtemp(join(tmpdir(), "parley-ca-"));
  caFile = join(folder, "ca.pem");
  await writeFile(caFile, sandbox.caCertificate ?? "");
});
after(async () => {
  await sandbox.close();
  await rm(folder, { recursive: true });
});

describe("in production, with TLS vendors whose certificate authority is a file", () => {
  let server: TestServer;
  before(async () => {
    const environment = { ...everyVendor(), VENDOR_CA_FILE: caFile };
    server = await TestServer.start({ sandbox, environment });
  });
  after(() => server.close());

  test("every vendor's address uses TLS", () => {
    const { telephones, desk, ...vendors } = sandbox.urls;
    for (const url of Object.values(vendors)) assert.match(url, /^(?:https|wss):/);
    for (const url of [telephones, desk]) assert.match(url, /^http:/);
  });

  test("a call uses every vendor that the platform can have", () => {
    for (const category of CATEGORIES) {
      const offering = VENDORS.filter((each) => each[category] && each.address.variable);
      const keys = offering.map(({ key }) => key);
      assert.deepEqual([...new Set(CALLS.map((call) => call[category]))].sort(), keys.sort());
    }
  });

  describe("words are heard, both ways", { concurrency: true }, () => {
    for (const { llm, tts, stt } of CALLS) {
      test(`when ${stt} listens, ${llm} answers and ${tts} speaks`, async () => {
        const customer = await server.customer();
        await server.agent(customer, { persona: { greeting: GREETING } }, { llm, tts, stt });
        const caller = await server.call(customer);
        await caller.until(ended);
        const heardBy = caller.until(understood);
        await caller.say("say seven green bottles");
        assert.equal(textOf(await heardBy), "say seven green bottles");
        await caller.until(ended);
        const spoken = (await caller.playedReplies()).map(({ text }) => text).join(" ");
        assert.equal(spoken, `${GREETING} seven green bottles`);
        await caller.hangUp();
        const call = await server.endedCall(customer);
        assert.deepEqual(
          call.transcript.map(({ role, text }) => `${role}: ${text}`),
          [
            `assistant: ${GREETING}`,
            "user: say seven green bottles",
            "assistant: seven green bottles",
          ],
        );
      });
    }
  });

  test("on the telephone", async () => {
    const customer = await server.customer();
    const greeting = "Good morning.";
    await server.agent(customer, { persona: { greeting } }, { tts: "elevenlabs" });
    const caller = await ring(server, customer);
    await heard(caller, greeting);
    await caller.say("say blue moon");
    await heard(caller, "blue moon");
    await caller.hangUp();
    const call = await server.endedCall(customer);
    assert.deepEqual(
      call.transcript.map(({ text }) => text),
      [greeting, "say blue moon", "blue moon"],
    );
  });
});

test("without the file no call begins, and the log says why", async (context) => {
  const log = new RecordingLogger();
  const server = await TestServer.start({ sandbox, log });
  context.after(() => server.close());
  const customer = await server.customer();
  await server.agent(customer);
  const close = await closeOf(server.dial(customer));
  assert.equal(close.code, 1011);
  assert.equal((await server.endedCall(customer)).metadata["endReason"], "sttFailed");
  const reason = "deepgram: no TLS connection that can be trusted: UNABLE_TO_VERIFY_LEAF_SIGNATURE";
  assert.ok(JSON.stringify(log.lines).includes(reason));
});

test("a development server's own sandbox speaks TLS if configured, including Twilio's part", async (context) => {
  const environment = { NODE_ENV: "development", SANDBOX: "tls" };
  const server = await TestServer.start({ sandbox, environment });
  context.after(() => server.close());
  const customer = await server.customer();
  const { id: agentId } = await server.agent(customer, { persona: { greeting: GREETING } });
  const placed = await fetch(`${server.url}/api/dashboard/calls`, {
    method: "POST",
    headers: { "x-api-key": customer.apiKey, "content-type": "application/json" },
    body: JSON.stringify({ agentId, to: "+15550101000", from: "+15550109999" }),
  });
  assert.equal(placed.status, 201, await placed.text());
  const call = await server.endedCall(customer);
  assert.equal(call.metadata["endReason"], "callerLeft");
  assert.equal(call.transcript.at(-1)?.text, "goodbye.");
});

/** The variables that configure a provider of each vendor for the platform, in the sandbox. */
function everyVendor(): Record<string, string> {
  const urls = new Map(Object.entries(sandbox.urls));
  const variables: Record<string, string> = {};
  for (const { key, apiKey, address } of VENDORS) {
    if (apiKey.variable !== undefined) variables[apiKey.variable] = VENDOR_KEY;
    const url = urls.get(key);
    if (address.variable !== undefined && url !== undefined) variables[address.variable] = url;
  }
  return variables;
}
