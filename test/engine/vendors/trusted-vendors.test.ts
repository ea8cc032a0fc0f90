import assert from "node:assert/strict";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { after, before, describe, test } from "node:test";
import { TLSSocket } from "node:tls";
import { type Sandbox, startSandbox } from "../../../engine/sandbox/sandbox.js";
import {
  type ProviderCheckResult,
  ProviderChecks,
} from "../../../engine/tenancy/providers/provider-check.js";
import { SystemClock } from "../../../engine/time/clock.js";
import { languageModel, speechToText, textToSpeech } from "../../../engine/vendors/registry.js";
import { Connections } from "../../../engine/vendors/transport/connections.js";
import { CATEGORIES } from "../../../engine/vendors/vendor.js";
import { VENDORS } from "../../../engine/vendors/vendors.js";
import { providerRecord } from "../../storage/sample-records.js";
import { TENANT } from "../tenancy/sample-tenant.js";
import { never } from "./sandboxed-vendors.js";
import { authority, ScriptedTlsServer } from "./scripted-tls-server.js";

/** The client of every vendor, in all that it does. */
const CLIENTS = VENDORS.flatMap(({ key, address, ...offers }) =>
  CATEGORIES.flatMap((category) => {
    const offer = offers[category];
    if (offer === undefined) return [];
    const protocol = address.protocols.find((each) => /^(?:https|wss):$/.test(each)) ?? "";
    const modelId = offer.models[0]?.modelId ?? "any";
    return [{ key, category, modelId, protocol }];
  }),
);
type Client = (typeof CLIENTS)[number];

const clock = new SystemClock();
const sandbox = await startSandbox({ tls: true });
const elsewhere = new ScriptedTlsServer(await authority.identityFor(["api.example.com"]));
const trustingNobody = trusting();
const trustingAll = trusting(authority.certificate, sandbox.caCertificate ?? "");
before(() => elsewhere.start());
after(async () => {
  await Promise.all([trustingNobody, trustingAll].map((connections) => connections.close()));
  await elsewhere.close();
  await sandbox.close();
});

function addressIn({ urls }: Sandbox, key: string): string {
  return new Map<string, string>(Object.entries(urls)).get(key) ?? urls.kokoro;
}

/** What comes of the client's smallest request there. */
function tried(
  { key, category, modelId }: Client,
  baseUrl: string,
  connections: Connections,
): Promise<ProviderCheckResult> {
  const settings = { baseUrl, apiKey: "any", settings: {}, clientOwned: false };
  const context = { clock, connections };
  const models = [{ modelId, label: "any" }];
  const provider = providerRecord({ providerKey: key, category, models });
  const checks = new ProviderChecks({
    providers: {
      get: () => Promise.resolve(provider),
      draft: () => Promise.resolve(provider),
      getGlobal: () => Promise.resolve(provider),
      draftGlobal: () => Promise.resolve(provider),
      noteTest: () => Promise.resolve(),
    },
    clients: {
      llm: () => languageModel(key, settings, context),
      tts: () => textToSpeech(key, settings, context),
      stt: () => speechToText(key, settings, context),
    },
    clock,
  });
  return checks.check(TENANT, provider.id, never());
}

function trusting(...authorities: readonly string[]): Connections {
  return new Connections({ clock, allowPrivateAddresses: false, authorities });
}

async function refusal(client: Client, url: string, connections: Connections): Promise<string> {
  const result = await tried(client, url, connections);
  assert.ok(!result.ok);
  assert.equal(result.fault, "refused", result.error);
  return result.error;
}

for (const client of CLIENTS) {
  const { key, category } = client;
  describe(`${category}: ${key}`, () => {
    test("sends nothing to a server with a certificate of an unknown authority", async () => {
      const reason = await refusal(client, addressIn(sandbox, key), trustingNobody);
      assert.match(reason, /no TLS connection that can be trusted: UNABLE_TO_VERIFY/);
    });

    test("sends nothing to a server with a certificate for another name", async () => {
      const url = `${client.protocol}//${new URL(elsewhere.origin).host}`;
      const reason = await refusal(client, url, trustingAll);
      assert.match(reason, /no TLS connection that can be trusted: ERR_TLS_CERT_ALTNAME_INVALID/);
    });

    test("asks the second time over the same connection, or resumes its session", async (context) => {
      const resumed: boolean[] = [];
      const note = (socket: unknown) => {
        assert.ok(socket instanceof TLSSocket && socket.authorized);
        resumed.push(socket.isSessionReused());
      };
      const onConnected = (connected: unknown) => note(Object(connected).socket);
      subscribe("undici:client:connected", onConnected);
      const connections = trusting(sandbox.caCertificate ?? "");
      const forSocket = connections.forSocket.bind(connections);
      connections.forSocket = (...owner) => {
        const connect = forSocket(...owner);
        return (options, callback) =>
          connect(options, (...outcome) => {
            if (outcome[0] === null) note(outcome[1]);
            callback(...outcome);
          });
      };
      context.after(async () => {
        unsubscribe("undici:client:connected", onConnected);
        await connections.close();
      });
      const ask = async () => {
        const result = await tried(client, addressIn(sandbox, key), connections);
        assert.deepEqual(result, { ok: true, latencyMs: result.latencyMs });
        // The pool has its connection back once the answer's own callbacks are through.
        await new Promise(setImmediate);
        return resumed.splice(0);
      };
      const [first] = await ask();
      assert.equal(first, false);
      const later = await ask();
      assert.ok(!later.includes(false), "a whole handshake for the second time");
    });
  });
}
