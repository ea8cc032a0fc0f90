import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { CredentialCipher } from "../../../../engine/security/credential-cipher.js";
import { VendorClients } from "../../../../engine/tenancy/providers/vendor-clients.js";
import { SystemClock } from "../../../../engine/time/clock.js";
import { Connections } from "../../../../engine/vendors/transport/connections.js";
import { httpService } from "../../../doubles/http-service.js";
import { providerRecord } from "../../../storage/sample-records.js";

const cipher = new CredentialCipher("5a".repeat(32));

/** Clients of a platform whose OpenAI is a local HTTP service, and the keys that the service received. */
async function platformClients(context: TestContext) {
  const keys: (string | undefined)[] = [];
  const openai = await httpService(context, (request, response) => {
    keys.push(request.headers.authorization);
    response.writeHead(401).end();
  });
  const clock = new SystemClock();
  const connections = new Connections({ clock, allowPrivateAddresses: false });
  context.after(() => connections.close());
  const clients = new VendorClients(cipher, { openai: `${openai}/v1` }, { clock, connections });
  const messages = [{ role: "user", content: "Hello" }] as const;
  const request = { modelId: "small", messages, temperature: 0, maxTokens: 1 };
  const ask = (provider: ReturnType<typeof providerRecord>) =>
    clients.llm(provider, "org").complete(request, () => undefined, AbortSignal.timeout(5_000));
  return { keys, openai, clients, ask };
}

test("a provider of the platform uses the platform's address and key", async (context) => {
  const { keys, ask } = await platformClients(context);
  const sealedCredentials = cipher.seal({ apiKey: "sk-platform" });
  const provider = providerRecord({ orgId: null, sealedCredentials, settings: {} });
  await assert.rejects(ask(provider), { name: "VendorError", fault: "unauthorized" });
  assert.deepEqual(keys, ["Bearer sk-platform"]);
});

test("a provider of an organization never connects to an address of the platform's own network", async (context) => {
  const { keys, openai, ask } = await platformClients(context);
  const sealedCredentials = cipher.seal({ apiKey: "sk-ours" });
  const provider = providerRecord({ sealedCredentials, settings: { baseUrl: `${openai}/v1` } });
  await assert.rejects(ask(provider), { name: "VendorError" });
  assert.deepEqual(keys, []);
});

test("the error for credentials that cannot be decrypted names the provider, not their content", async (context) => {
  const { clients } = await platformClients(context);
  for (const sealedCredentials of ["00:11:22", cipher.seal({ apiKey: 7 })]) {
    assert.throws(
      () => clients.tts(providerRecord({ category: "tts", sealedCredentials }), "org"),
      {
        name: "VendorError",
        fault: "unauthorized",
        message: "the stored credentials of provider provider cannot be opened",
      },
    );
  }
});

test("a vendor without a key receives none", async (context) => {
  const { clients } = await platformClients(context);
  const provider = providerRecord({
    category: "tts",
    providerKey: "edge",
    orgId: null,
    sealedCredentials: null,
    settings: {},
  });
  assert.doesNotThrow(() => clients.tts(provider, "org"));
});
