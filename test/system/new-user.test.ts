import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Caller } from "../../engine/sandbox/caller.js";
import { checkAgainstContract } from "../api/contract/contract-check.js";
import { readEvents } from "../api/contract/event-stream-reader.js";
import { LoopbackClient } from "../api/http/loopback-client.js";
import { idIn } from "../api/routes/agent-drafts.js";
import { ended } from "./events.js";
import { TestServer, VENDOR_KEY } from "./test-server.js";

const CREDENTIALS = { email: "Ada@example.com", password: "correct horse battery" };
const DASHBOARD = "/api/dashboard";

let server: TestServer;
let client: LoopbackClient;

before(async () => {
  // The sandbox has a private address; a real vendor would not.
  server = await TestServer.start({ environment: { ALLOW_PRIVATE_PROVIDERS: "true" } });
  client = new LoopbackClient(server.parley.port, checkAgainstContract);
});

after(async () => {
  client.close();
  await server.stop();
});

async function signedIn(): Promise<Readonly<Record<string, string>>> {
  const answer = await client.post("/api/auth/signin", CREDENTIALS);
  assert.equal(answer.status, 200, answer.text);
  return { authorization: `Bearer ${Object(answer.body).token}` };
}

async function created(path: string, body: unknown, as: Readonly<Record<string, string>>) {
  const answer = await client.post(`${DASHBOARD}/${path}`, body, as);
  assert.equal(answer.status, 201, answer.text);
  return answer.body;
}

async function shown(path: string, as: Readonly<Record<string, string>>) {
  const answer = await client.get(`${DASHBOARD}/${path}`, as);
  assert.equal(answer.status, 200, answer.text);
  return Object(answer.body);
}

/** Returns the first model that the plan allows, with its provider. */
async function foundModel(category: string, as: Readonly<Record<string, string>>) {
  const { items } = await shown(`models/search?category=${category}&limit=1`, as);
  assert.equal(items[0].allowed, true);
  return items[0];
}

test("a new user signs up, is activated, makes an agent, calls it, and finds the call", async (t) => {
  let token: Readonly<Record<string, string>> = {};
  let providerId = "";
  let agentId = "";
  let apiKey = "";

  await t.test("signs up, and is pending", async () => {
    const signUp = { ...CREDENTIALS, name: "Ada", orgName: "Engines" };
    const answer = await client.post("/api/auth/signup", signUp);
    assert.equal(answer.status, 201, answer.text);
    token = { authorization: `Bearer ${Object(answer.body).token}` };
    const me = await client.get("/api/auth/me", token);
    assert.equal(Object(me.body).status, "pending");
    assert.equal((await client.get(`${DASHBOARD}/agents`, token)).status, 403);
  });

  await t.test("is activated by an administrator, on a plan with own providers", async () => {
    await server.tenancy.organizations.activate(CREDENTIALS.email);
    await server.tenancy.organizations.changePlan(CREDENTIALS.email, "starter");
    token = await signedIn();
    const organization = await shown("organization", token);
    assert.equal(organization.status, "active");
    assert.equal(organization.planSlug, "starter");
  });

  await t.test("adds a provider and tries it", async () => {
    const baseUrl = server.sandbox.urls.openai;
    const provider = {
      category: "llm",
      providerKey: "openai",
      name: "Our account",
      credentials: { apiKey: VENDOR_KEY },
      models: [{ modelId: "gpt-6-luna", label: "Small" }],
      settings: { baseUrl },
    };
    providerId = idIn(await created("providers", provider, token));
    const path = `${DASHBOARD}/providers/${providerId}/test`;
    const tried = await client.send("POST", path, { headers: token });
    assert.equal(Object(tried.body).ok, true, tried.text);
  });

  await t.test("makes an agent of it and of the plan's models, and tries it", async () => {
    const voice = await foundModel("tts", token);
    const recognizer = await foundModel("stt", token);
    const agent = {
      name: "Receptionist",
      persona: { greeting: "Hello there." },
      llmProviderId: providerId,
      llmModelId: "gpt-6-luna",
      ttsProviderId: voice.providerId,
      ttsModelId: voice.modelId,
      sttProviderId: recognizer.providerId,
      thresholds: { endpointingMs: 100 },
    };
    const made = await created("agents", agent, token);
    assert.equal(Object(made).status, "active");
    agentId = idIn(made);
    const messages = [{ role: "user", content: "say good morning" }];
    const chat = await client.post(`${DASHBOARD}/agents/${agentId}/chat`, { messages }, token);
    const events = readEvents(chat.text);
    const words = events.map(({ data }) => Object(data).text ?? "");
    assert.equal(words.join(""), "good morning");
    assert.equal(events.at(-1)?.name, "done");
  });

  await t.test("creates a key and calls the agent with it", async () => {
    apiKey = Object(await created("api-keys", { name: "Website" }, token)).rawKey;
    const caller = await Caller.connect({ url: server.url, apiKey, agentId });
    await caller.until(ended);
    await caller.say("say thank you");
    await caller.until(ended);
    await caller.hangUp();
  });

  await t.test("finds the call, its transcript and its cost in the dashboard", async () => {
    const key = { "x-api-key": apiKey };
    const call = await server.changes.until("the end of the call", async () => {
      const { items } = await shown(`calls?status=completed&agentId=${agentId}`, key);
      return items[0];
    });
    assert.equal(call.channel, "web");
    const { transcript, metrics } = await shown(`calls/${call._id}`, token);
    const said = transcript.map((message: { text: string }) => message.text);
    assert.equal(said[0], "Hello there.");
    assert.match(said[1], /say thank you/i);
    assert.match(said[2], /thank you/);
    assert.ok(metrics.turnCount >= 1 && metrics.ttfbMs > 0);
    assert.deepEqual(await shown("calls/count", token), { count: 1 });
    const [today] = (await shown("analytics/usage?days=1", token)) as readonly [
      { readonly calls: number; readonly llmTokens: number; readonly ttsChars: number },
    ];
    assert.equal(today.calls, 1);
    assert.ok(today.llmTokens > 0 && today.ttsChars > 0);
    const stats = await shown("stats", token);
    assert.deepEqual([stats.totalCalls, stats.activeCalls, stats.activeAgents], [1, 0, 1]);
  });

  await t.test("sees the audit trail, and no secret anywhere", async () => {
    const audit = await shown("audit", token);
    const actions = new Set(audit.items.map(({ action }: { action: string }) => action));
    for (const action of ["organization.activate", "provider.create", "agent.create"]) {
      assert.ok(actions.has(action), action);
    }
    for (const path of ["audit", "providers", "api-keys", "agents", "organization"]) {
      const { text } = await client.get(`${DASHBOARD}/${path}`, token);
      for (const secret of [VENDOR_KEY, apiKey, CREDENTIALS.password]) {
        assert.ok(!text.includes(secret), path);
      }
    }
  });
});
