import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { CredentialCipher } from "../../../../engine/security/credential-cipher.js";
import { VendorClients } from "../../../../engine/tenancy/providers/vendor-clients.js";
import { SystemClock } from "../../../../engine/time/clock.js";
import { Connections } from "../../../../engine/vendors/transport/connections.js";
import { httpService } from "../../../doubles/http-service.js";
import { providerRecord } from "../../../storage/sample-records.js";

const cipher = new CredentialCipher("5a".repeat(32));

/** Clients of a platform whose OpenAI is a service of this machine, and the keys that came there. */
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

test("a provider of the platform is reached where the platform says, with its key", async (context) => {
  const { keys, ask } = await platformClients(context);
  const sealedCredentials = cipher.seal({ apiKey: "sk-platform" });
  const provider = providerRecord({ orgId: null, sealedCredentials, settings: {} });
  await assert.rejects(ask(provider), { name: "VendorError", fault: "unauthorized" });
  assert.deepEqual(keys, ["Bearer sk-platform"]);
});

test("a provider of an organization never comes to an address of the platform's own network", async (context) => {
  const { keys, openai, ask } = await platformClients(context);
  const sealedCredentials = cipher.seal({ apiKey: "sk-ours" });
  const provider = providerRecord({ sealedCredentials, settings: { baseUrl: `${openai}/v1` } });
  await assert.rejects(ask(provider), { name: "VendorError" });
  assert.deepEqual(keys, []);
});

test("credentials that cannot be decrypted are reported by their provider, and not by their content", async (context) => {
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

test("a vendor without a key gets none", async (context) => {
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
