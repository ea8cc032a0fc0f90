import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { McpStand } from "../../engine/tools/mcp-stand.js";
import { ScriptedWebServer } from "../../engine/vendors/scripted-web-server.js";
import { LoopbackPlatform, type Tenancy } from "../http/loopback-platform.js";
import { agentDraft, idIn } from "./agent-drafts.js";

const AGENTS = "/api/dashboard/agents";
let platform: LoopbackPlatform;
let tenancy: Tenancy;
let draft: Awaited<ReturnType<typeof agentDraft>>;

before(async () => {
  platform = await LoopbackPlatform.start();
  tenancy = await platform.newTenancy("pro");
  draft = await agentDraft(platform, tenancy);
});

after(() => platform.close());

test("an agent is created with the contract's defaults, read, changed and deleted", async () => {
  const { client } = platform;
  const { byKey } = tenancy;
  const created = await client.post(AGENTS, draft, byKey);
  assert.equal(created.status, 201, created.text);
  const agentPath = `${AGENTS}/${idIn(created.body)}`;
  const at = new Date(platform.clock.epochMs()).toISOString();
  const { persona, ...rest } = Object(created.body);
  assert.equal(persona.greeting, "Hello! How can I help you today?");
  assert.deepEqual(rest, {
    ...draft,
    _id: idIn(created.body),
    orgId: tenancy.orgId,
    llmConfig: { temperature: 0.4, maxTokens: 200 },
    ttsConfig: { speed: 1, voice: null, languageVoices: [] },
    sttModelId: null,
    fallbacks: { llm: [], tts: [], stt: [], hedging: false },
    thresholds: {
      silenceTimeoutMs: 700,
      maxCallDurationSec: 1_800,
      interruptionSensitivity: "medium",
      backchannels: "ignore",
      backchannelPhrases: [],
      interruptionPhrases: [],
      preemptiveGeneration: false,
      onProviderFailure: "end",
      onUnrecognizedSpeech: null,
      endpointingMs: 200,
      maxEndpointingDelayMs: 1_500,
      dtmfDigits: 0,
      fillerAfterMs: 1_500,
      idleTimeoutMs: null,
    },
    tools: [],
    recording: { enabled: false, retentionDays: 30 },
    allowedOrigins: [],
    analysis: null,
    variables: [],
    preCall: null,
    mcpServers: [],
    knowledge: { documentIds: [] },
    active: true,
    status: "active",
    pauseReason: null,
    modelNotices: [],
    createdAt: at,
    updatedAt: at,
  });
  assert.deepEqual((await client.get(agentPath, byKey)).body, created.body);
  assert.deepEqual((await client.get(AGENTS, byKey)).body, [created.body]);

  platform.clock.advance(1_000);
  const body = { active: false, persona: { greeting: "Hi!" } };
  const changed = await client.send("PATCH", agentPath, { headers: byKey, body });
  assert.deepEqual(changed.body, {
    ...Object(created.body),
    persona: { ...persona, greeting: "Hi!" },
    active: false,
    status: "inactive",
    updatedAt: new Date(platform.clock.epochMs()).toISOString(),
  });

  const deleted = await client.send("DELETE", agentPath, { headers: byKey });
  assert.deepEqual([deleted.status, deleted.body], [200, { success: true }]);
  assert.equal((await client.get(agentPath, byKey)).status, 404);
  assert.equal((await client.send("DELETE", agentPath, { headers: byKey })).status, 404);
});

test("an agent stores its phrases, up to fifty of a kind, and a patch replaces the stock phrases as a whole", async () => {
  const { client } = platform;
  const headers = tenancy.byKey;
  const fifty = Array.from({ length: 50 }, (_, index) => `${index} `.padEnd(80, "x"));
  const stockPhrases = { apology: "x".repeat(300), waiting: ["Let me look.", "Nearly there."] };
  const thresholds = { backchannelPhrases: fifty, interruptionPhrases: ["hold on"] };
  const body = { ...draft, thresholds, persona: { stockPhrases } };
  const created = Object(await client.post(AGENTS, body, headers)).body;
  assert.deepEqual(created.thresholds.backchannelPhrases, fifty);
  assert.deepEqual(created.thresholds.interruptionPhrases, ["hold on"]);
  assert.deepEqual(created.persona.stockPhrases, stockPhrases);
  const patch = { persona: { stockPhrases: { stillThere: "Hello?" } } };
  const path = `${AGENTS}/${created._id}`;
  const changed = Object(await client.send("PATCH", path, { headers, body: patch })).body;
  assert.deepEqual(changed.persona.stockPhrases, { stillThere: "Hello?" });
  assert.equal(changed.persona.greeting, created.persona.greeting);
  assert.deepEqual(changed.thresholds, created.thresholds);
});

test("an agent says nothing to machines unless it is given that, and a patch replaces it as a whole", async () => {
  const { client } = platform;
  const headers = tenancy.byKey;
  const created = Object(await client.post(AGENTS, draft, headers)).body;
  const none = { voicemailMessage: null, screeningAnswer: null, whileDetecting: "greet" };
  assert.deepEqual(created.persona.outbound, none);
  const path = `${AGENTS}/${created._id}`;
  const patched = async (outbound: object) =>
    Object(await client.send("PATCH", path, { headers, body: { persona: { outbound } } })).body;
  const voicemailMessage = "Hello {{first|there}}, it is about {{order|your order}}.";
  const given = { voicemailMessage, screeningAnswer: "x".repeat(300), whileDetecting: "wait" };
  const changed = await patched(given);
  assert.deepEqual(changed.persona.outbound, given);
  assert.deepEqual(changed.variables, ["first", "order"]);
  assert.deepEqual((await patched({ voicemailMessage: "Bye." })).persona.outbound, {
    ...none,
    voicemailMessage: "Bye.",
  });
  assert.deepEqual((await patched({})).persona.outbound, none);
});

test("every field of an agent is checked and named", async () => {
  const fiftyOne = Array.from({ length: 51 }, (_, index) => `phrase ${index}`);
  const eleven = fiftyOne.slice(0, 11);
  const long = "x".repeat(1_001);
  const wrong: readonly (readonly [string, object])[] = [
    ["name", { name: " " }],
    ["llmProviderId", { llmProviderId: 5 }],
    ["llmModelId", { llmModelId: "" }],
    ["persona", { persona: "kind" }],
    ["persona", { persona: [] }],
    ["persona.systemPrompt", { persona: { systemPrompt: "x".repeat(32_001) } }],
    ["persona.outbound", { persona: { outbound: null } }],
    ["persona.outbound.message", { persona: { outbound: { message: "Hello." } } }],
    ["persona.outbound.voicemailMessage", { persona: { outbound: { voicemailMessage: "" } } }],
    ["persona.outbound.voicemailMessage", { persona: { outbound: { voicemailMessage: long } } }],
    ["persona.outbound.screeningAnswer", { persona: { outbound: { screeningAnswer: 5 } } }],
    ["persona.outbound.whileDetecting", { persona: { outbound: { whileDetecting: "talk" } } }],
    ["llmConfig.temperature", { llmConfig: { temperature: 2.01 } }],
    ["llmConfig.temperature", { llmConfig: { temperature: -0.1 } }],
    ["llmConfig.maxTokens", { llmConfig: { maxTokens: 0 } }],
    ["ttsConfig.speed", { ttsConfig: { speed: "fast" } }],
    ["ttsConfig.voice", { ttsConfig: { voice: "Zoë" } }],
    ["ttsConfig.voice", { ttsConfig: { voice: "v".repeat(201) } }],
    ["fallbacks.hedging", { fallbacks: { hedging: "yes" } }],
    ["recording.retentionDays", { recording: { enabled: true, retentionDays: 3_651 } }],
    ["thresholds.silenceTimeoutMs", { thresholds: { silenceTimeoutMs: 1.5 } }],
    ["thresholds.maxCallDurationSec", { thresholds: { maxCallDurationSec: -1 } }],
    ["thresholds.backchannelPhrases", { thresholds: { backchannelPhrases: "uh-huh" } }],
    ["thresholds.backchannelPhrases", { thresholds: { backchannelPhrases: fiftyOne } }],
    ["thresholds.interruptionPhrases", { thresholds: { interruptionPhrases: fiftyOne } }],
    ["thresholds.interruptionPhrases.1", { thresholds: { interruptionPhrases: ["a", " "] } }],
    ["thresholds.backchannelPhrases.0", { thresholds: { backchannelPhrases: ["x".repeat(81)] } }],
    ["persona.stockPhrases", { persona: { stockPhrases: "Hello?" } }],
    ["persona.stockPhrases.hello", { persona: { stockPhrases: { hello: "Hello?" } } }],
    ["persona.stockPhrases.apology", { persona: { stockPhrases: { apology: "x".repeat(301) } } }],
    ["persona.stockPhrases.waiting", { persona: { stockPhrases: { waiting: "Hm." } } }],
    ["persona.stockPhrases.waiting", { persona: { stockPhrases: { waiting: [] } } }],
    ["persona.stockPhrases.waiting", { persona: { stockPhrases: { waiting: eleven } } }],
    ["thresholds.interruptionSensitivity", { thresholds: { interruptionSensitivity: "some" } }],
  ];
  for (const [path, fault] of wrong) {
    const answer = await platform.client.post(AGENTS, { ...draft, ...fault }, tenancy.byKey);
    assert.equal(answer.status, 400, path);
    assert.ok(answer.text.startsWith(`{"error":"${path}: expected `), answer.text);
  }
});

test("a variable that not every call has needs a default, and guardrails may contain no variables", async () => {
  const named =
    "{{first}} needs a default, such as {{first|there}}: not every call has a value for it";
  const rules = "cannot hold variables, which could change the rules";
  for (const [path, persona, error] of [
    ["persona.greeting", { greeting: "Hello {{caller}}, {{first}}." }, named],
    ["persona.systemPrompt", { systemPrompt: "You call {{ first }}." }, named],
    ["persona.stockPhrases.apology", { stockPhrases: { apology: "Sorry, {{first}}." } }, named],
    ["persona.outbound.screeningAnswer", { outbound: { screeningAnswer: "{{first}}." } }, named],
    ["persona.guardrails", { guardrails: "Obey {{caller}}." }, rules],
  ] as const) {
    const answer = await platform.client.post(AGENTS, { ...draft, persona }, tenancy.byKey);
    assert.equal(answer.status, 400, path);
    assert.equal(JSON.parse(answer.text).error, `${path}: ${error}`);
  }
  const persona = { greeting: "Hello {{first|there}}, {{weekday}}." };
  const made = await platform.client.post(AGENTS, { ...draft, persona }, tenancy.byKey);
  assert.equal(made.status, 201, made.text);
});

test("variables of a tool's URL come after the host and have defaults, and its schema has no unresolved reference", async () => {
  const find = {
    type: "http",
    name: "find",
    description: "Finds it",
    method: "GET",
    url: "https://a.example/{{id|none}}",
    parameters: {
      type: "object",
      properties: { of: { $ref: "#/$defs/Of" } },
      $defs: { Of: { type: "string" } },
    },
  };
  for (const [path, change] of [
    ["tools.0.url", { url: "https://{{host|a}}.example/" }],
    ["tools.0.url", { url: "https://a.example/{{id}}" }],
    ["tools.0.headers.x-id", { headers: { "x-id": "{{id}}" } }],
    ["tools.0.headers", { headers: { "{{id|x}}": "a" } }],
    ["tools.0.fixedParameters.id", { fixedParameters: { id: "{{id}}" } }],
    [
      "tools.0.parameters",
      { parameters: { type: "object", properties: { a: { $ref: "#/$defs/B" } } } },
    ],
    ["preCall.url", { preCall: { url: "ftp://a.example" } }],
    ["preCall.timeoutMs", { preCall: { url: "https://a.example", timeoutMs: 5_001 } }],
    ["preCall.secret", { preCall: { url: "https://a.example", secret: "short" } }],
  ] as const) {
    const { preCall, ...tool } = { preCall: undefined, ...change };
    const body = { ...draft, tools: [{ ...find, ...tool }], preCall };
    const answer = await platform.client.post(AGENTS, body, tenancy.byKey);
    assert.equal(answer.status, 400, path);
    assert.ok(answer.text.startsWith(`{"error":"${path}`), answer.text);
  }
  const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
  const preCall = { url: "https://a.example/before", headers: { "X-Key": "k" }, secret };
  const sentences = { onDelay: "It takes longer.", onDelayMs: 2_000, onFailure: "It failed." };
  const beside = { onStart: "One moment.", ...sentences, background: "quiet", cancellable: true };
  const tool = { ...find, ...beside, fixedParameters: { key: "of {{customer|x}}" } };
  const made = await platform.client.post(
    AGENTS,
    { ...draft, tools: [tool], preCall },
    tenancy.byKey,
  );
  assert.equal(made.status, 201, made.text);
  const agent = Object(made.body);
  assert.deepEqual(agent.variables, ["id", "customer"]);
  assert.deepEqual(agent.tools[0].parameters.properties, { of: { type: "string" } });
  assert.deepEqual(agent.tools[0].fixedParameterNames, ["key"]);
  const { onStart, onDelay, onDelayMs, onFailure, background, cancellable } = agent.tools[0];
  const shownBeside = { onStart, onDelay, onDelayMs, onFailure, background, cancellable };
  assert.deepEqual(shownBeside, beside);
  const shown = { url: preCall.url, timeoutMs: 2_000, headerNames: ["x-key"], isSigned: true };
  assert.deepEqual(agent.preCall, shown);
  assert.ok(!made.text.includes(secret) && !made.text.includes("customer|x"), made.text);
  const path = `${AGENTS}/${agent._id}`;
  const patch = (body: object) =>
    platform.client.send("PATCH", path, { body, headers: tenancy.byKey });
  const kept = await patch({ preCall: { url: "https://a.example/other" } });
  assert.deepEqual(Object(kept.body).preCall, { ...shown, url: "https://a.example/other" });
  const elsewhere = await patch({ preCall: { url: "https://b.example/" } });
  assert.match(elsewhere.text, /preCall.headers: expected headers and secret again/);
  assert.equal(Object((await patch({ preCall: null })).body).preCall, null);
});

test("variables in headers, fixed parameters and headers of MCP servers are among the agent's, and no text has other braces", async () => {
  const tool = {
    type: "http",
    name: "find",
    description: "Finds it for {{first|them}}",
    method: "GET",
    url: "https://a.example/{{id|none}}",
    headers: { "x-header": "{{inHeader|}}" },
    fixedParameters: { fixed: "{{inFixed|}} {{id|}}" },
    parameters: { type: "object", properties: {} },
    onStart: "One moment {{second|}}.",
  };
  const server = {
    name: "crm",
    url: "https://crm.example/mcp",
    headers: { "x-customer": "{{inMcp|}}" },
    onFailure: "Sorry {{third|}}.",
  };
  const languages = ["de-DE"];
  const german = { language: "de-DE", toolSentences: { crm: { onStart: "Ja, {{fourth|}}." } } };
  const persona = {
    languages,
    languageTexts: [german],
    pronunciations: [{ word: "{{lastName|}}", say: "{{lastNameSaid|}}" }],
  };
  const whole = { ...draft, persona, tools: [tool], mcpServers: [server] };
  const made = await platform.client.post(AGENTS, whole, tenancy.byKey);
  assert.equal(made.status, 201, made.text);
  const names = ["lastName", "lastNameSaid", "fourth", "first", "id", "second", "third"];
  const { _id: id, variables, persona: stored } = Object(made.body);
  const sealed = ["inFixed", "inHeader", "inMcp"];
  assert.deepEqual(new Set(variables), new Set([...names, ...sealed]));
  assert.deepEqual(stored.languageTexts[0].toolSentences, german.toolSentences);
  const bad = "{{first-name|there}}";
  for (const [path, change] of [
    ["name", { name: bad }],
    ["persona.guardrails", { persona: { guardrails: bad } }],
    ["persona.pronunciations.0.say", { persona: { pronunciations: [{ word: "a", say: bad }] } }],
    ["tools.0.onStart", { tools: [{ ...tool, onStart: bad }] }],
    ["tools.0.description", { tools: [{ ...tool, description: "{{id}}" }] }],
    [
      "tools.0.parameters.properties.of.description",
      {
        tools: [
          { ...tool, parameters: { type: "object", properties: { of: { description: bad } } } },
        ],
      },
    ],
    ["mcpServers.0.url", { mcpServers: [{ ...server, url: "https://crm.example/{{id|x}}" }] }],
    [
      "mcpServers.0.headers.x-customer",
      { mcpServers: [{ ...server, headers: { "x-customer": bad } }] },
    ],
    ["preCall.url", { preCall: { url: "https://a.example/{{caller}}" } }],
    [
      "preCall.headers.x-caller",
      { preCall: { url: "https://a.example", headers: { "x-caller": "{{caller}}" } } },
    ],
    [
      "persona.languageTexts.0.toolSentences.other",
      { persona: { languageTexts: [{ ...german, toolSentences: { other: { onStart: "Ja." } } }] } },
    ],
  ] as const) {
    const path_ = `${AGENTS}/${id}`;
    const answer = await platform.client.send("PATCH", path_, {
      body: change,
      headers: tenancy.byKey,
    });
    assert.equal(answer.status, 400, path);
    assert.ok(answer.text.startsWith(`{"error":"${path}: `), answer.text);
  }
  for (const [change, expected] of [
    [
      { persona: { language: "German" } },
      /^persona\.language: expected the agent's language, a lan/,
    ],
    [
      { tools: [{ ...tool, parameters: { type: "object", properties: { a: { type: "text" } } } }] },
      /^tools\.0\.parameters: expected one of object, .* at properties\.a\.type$/,
    ],
    [{ mcpServers: [server, server] }, /^mcpServers\.1: expected a name that no other server/],
    [
      { mcpServers: [{ ...server, auth: "token" }] },
      /^mcpServers\.0\.auth: .* one of "none", "bearer", "clientCredentials"$/,
    ],
  ] as const) {
    const answer = await platform.client.send("PATCH", `${AGENTS}/${id}`, {
      body: change,
      headers: tenancy.byKey,
    });
    assert.equal(answer.status, 400, answer.text);
    assert.match(String(Object(answer.body).error), expected);
  }
  const body = { tools: [tool], mcpServers: [] };
  const less = await platform.client.send("PATCH", `${AGENTS}/${id}`, {
    body,
    headers: tenancy.byKey,
  });
  assert.deepEqual(Object(less.body).persona.languageTexts[0].toolSentences, {});
});

test("a language that is none, and a voice that the vendor does not have, are refused", async () => {
  for (const [path, change] of [
    ["persona.language", { persona: { language: "zzzz nonsense" } }],
    ["ttsConfig.voice", { ttsConfig: { voice: "nosuchvoice" } }],
  ] as const) {
    const answer = await platform.client.post(AGENTS, { ...draft, ...change }, tenancy.byKey);
    assert.equal(answer.status, 400, `${path} ${answer.text}`);
    assert.ok(answer.text.startsWith(`{"error":"${path}: `), answer.text);
  }
});

test("a tool can be tested with typed arguments and values, and its secrets stay hidden", async (context) => {
  const server = new ScriptedWebServer();
  await server.start();
  context.after(() => server.close());
  server.answer = (response, request) =>
    response.setHeader("content-type", "application/json").end(JSON.stringify(request.headers));
  const parameters = { type: "object", properties: { order: { type: "string" } } };
  const tool = {
    type: "http",
    name: "find",
    description: "Finds it",
    parameters,
    method: "POST",
    url: `${server.url}/of/{{id|none}}`,
    headers: { authorization: "Bearer very-secret" },
    fixedParameters: { key: "also-secret" },
  };
  const made = await platform.client.post(AGENTS, { ...draft, tools: [tool] }, tenancy.byKey);
  const path = `${AGENTS}/${Object(made.body)._id}/tool-tests`;
  const body = { name: "find", arguments: { order: "1" }, variables: { id: "a/b" } };
  const tried = await platform.client.post(path, body, tenancy.byKey);
  assert.equal(tried.status, 200, tried.text);
  const { request, ok, status } = Object(tried.body);
  assert.deepEqual([ok, status], [true, 200]);
  assert.equal(request.url, `${server.url}/of/a%2Fb`);
  assert.equal(request.headers.authorization, "[hidden]");
  assert.deepEqual(request.arguments, { order: "1", key: "[hidden]" });
  assert.ok(!tried.text.includes("very-secret") && !tried.text.includes("also-secret"), tried.text);
  assert.equal(server.requests[0]?.headers["authorization"], "Bearer very-secret");
  const wrong = await platform.client.post(
    path,
    { ...body, arguments: { order: 1 } },
    tenancy.byKey,
  );
  assert.match(Object(wrong.body).content, /the arguments do not fit/);
  const unknown = await platform.client.post(path, { ...body, name: "none" }, tenancy.byKey);
  assert.equal(unknown.status, 404);
});

test("an agent's MCP servers are shown without their secrets, and their tools including those that are left out", async (context) => {
  const stand = new McpStand();
  stand.bearer = "the-token";
  stand.tools = ["find", "other"].map((name) => ({ name, description: "Finds", run: () => ({}) }));
  await stand.start();
  context.after(() => stand.close());
  const { client } = platform;
  const headers = tenancy.byKey;
  const server = {
    name: "crm",
    url: stand.url,
    auth: { type: "bearer", token: "the-token" },
    headers: { "X-Tenant": "t1" },
    allowedTools: ["find"],
    onStart: "One moment.",
    onDelay: "It takes longer.",
    onDelayMs: 2_000,
    onFailure: "It failed.",
    background: "reply",
    cancellable: true,
  };
  const made = await client.post(AGENTS, { ...draft, mcpServers: [server] }, headers);
  assert.equal(made.status, 201, made.text);
  assert.ok(!made.text.includes("the-token") && !made.text.includes("t1"), made.text);
  const [shown] = Object(made.body).mcpServers;
  assert.deepEqual(shown, {
    name: "crm",
    url: stand.url,
    auth: { type: "bearer" },
    headerNames: ["x-tenant"],
    allowedTools: ["find"],
    timeoutMs: 5_000,
    onStart: "One moment.",
    onDelay: "It takes longer.",
    onDelayMs: 2_000,
    onFailure: "It failed.",
    background: "reply",
    cancellable: true,
  });
  const path = `${AGENTS}/${Object(made.body)._id}`;
  const listed = await client.get(`${path}/mcp-tools`, headers);
  assert.equal(listed.status, 200, listed.text);
  const [of] = Object(listed.body);
  assert.deepEqual(
    [of.name, of.error, of.protocolVersion, of.isCut],
    ["crm", null, "2026-07-28", false],
  );
  assert.deepEqual(of.tools, [{ name: "find", offeredAs: "crm_find", description: "Finds" }]);
  const message = "it is not in allowedTools";
  assert.deepEqual(of.omitted, [{ name: "other", reason: "notAllowed", message }]);
  stand.takeSeen();
  await client.get(`${path}/mcp-tools`, headers);
  assert.deepEqual(stand.takeSeen(), []);
  await client.get(`${path}/mcp-tools?refresh=true`, headers);
  assert.deepEqual(stand.takeSeen(), ["tools/list"]);
  const unknown = await client.get(`${AGENTS}/none/mcp-tools`, headers);
  assert.equal(unknown.status, 404);
  const { onStart: _onStart, ...others } = shown;
  const changed = { ...others, allowedTools: null };
  const { headerNames: _names, ...kept } = changed;
  const patched = await client.send("PATCH", path, { headers, body: { mcpServers: [kept] } });
  assert.deepEqual(Object(patched.body).mcpServers, [changed]);
  const wrong: readonly (readonly [string, object])[] = [
    ["mcpServers.0.name", { name: "a_b" }],
    ["mcpServers.0.name", { name: "constructor" }],
    ["mcpServers.0.onDelayMs", { onDelayMs: 499 }],
    ["mcpServers.0.onFailure", { onFailure: "" }],
    ["mcpServers.0.cancellable", { cancellable: "yes" }],
    ["mcpServers.0.url", { url: "ftp://a.example" }],
    ["mcpServers.0.auth.type", { auth: { type: "basic" } }],
    ["mcpServers.0.auth.token", { auth: { type: "bearer" } }],
    ["mcpServers.0.timeoutMs", { timeoutMs: 10_001 }],
  ];
  for (const [field, change] of wrong) {
    const body = { ...draft, mcpServers: [{ ...server, ...change }] };
    const refused = await client.post(AGENTS, body, headers);
    assert.equal(refused.status, 400);
    assert.ok(refused.text.includes(field), `${field}: ${refused.text}`);
  }
  const twice = await client.post(AGENTS, { ...draft, mcpServers: [server, server] }, headers);
  assert.match(twice.text, /mcpServers\.1: expected a name that no other server/);
});

test("a setting under its former name is refused with the current name, by POST and PATCH", async () => {
  const { client } = platform;
  const headers = tenancy.byKey;
  const agent = await client.post(AGENTS, draft, headers);
  const path = `${AGENTS}/${Object(agent.body)._id}`;
  const former: readonly (readonly [string, string, object])[] = [
    ["thresholds.patienceMs", "maxEndpointingDelayMs", { thresholds: { patienceMs: 900 } }],
    ["thresholds.agreementWords", "backchannels", { thresholds: { agreementWords: "ignored" } }],
    ["thresholds.waitingWordMs", "fillerAfterMs", { thresholds: { waitingWordMs: 0 } }],
    ["thresholds.callerSilenceMs", "idleTimeoutMs", { thresholds: { callerSilenceMs: null } }],
    ["thresholds.earlyReply", "preemptiveGeneration", { thresholds: { earlyReply: true } }],
    ["thresholds.keypadDigits", "dtmfDigits", { thresholds: { keypadDigits: 4 } }],
    ["thresholds.onVendorsLost", "onProviderFailure", { thresholds: { onVendorsLost: "end" } }],
    ["publicOrigins", "allowedOrigins", { publicOrigins: [] }],
  ];
  for (const [field, present, body] of former) {
    const created = await client.post(AGENTS, { ...draft, ...body }, headers);
    const patched = await client.send("PATCH", path, { headers, body });
    for (const { status, text } of [created, patched]) {
      const error = `${field}: expected ${present}, the present name of this field`;
      assert.deepEqual([status, JSON.parse(text).error], [400, error]);
    }
  }
  assert.deepEqual((await client.get(path, headers)).body, agent.body);
});

test("a temperature of null is stored, read and accepted again; an omitted one has the contract's default", async () => {
  const { client } = platform;
  const headers = tenancy.byKey;
  const created = await client.post(
    AGENTS,
    { ...draft, llmConfig: { temperature: null } },
    headers,
  );
  assert.equal(created.status, 201, created.text);
  const path = `${AGENTS}/${idIn(created.body)}`;
  const llmConfigOf = async () => Object((await client.get(path, headers)).body).llmConfig;
  assert.deepEqual(await llmConfigOf(), { temperature: null, maxTokens: 200 });
  for (const [llmConfig, expected] of [
    [{ maxTokens: 90 }, { temperature: null, maxTokens: 90 }],
    [{ temperature: 0 }, { temperature: 0, maxTokens: 90 }],
    [{ temperature: null }, { temperature: null, maxTokens: 90 }],
  ] as const) {
    const changed = await client.send("PATCH", path, { headers, body: { llmConfig } });
    assert.equal(changed.status, 200, changed.text);
    assert.deepEqual(await llmConfigOf(), expected);
  }
  for (const temperature of ["0.4", 2.1, -0.1, false]) {
    const body = { llmConfig: { temperature } };
    const refused = await client.send("PATCH", path, { headers, body });
    assert.equal(refused.status, 400, refused.text);
    assert.equal(Object(refused.body).details[0].path, "llmConfig.temperature");
  }
  await client.send("DELETE", path, { headers });
});

test("hedging is switched on and off without changing the fallbacks", async () => {
  const { client } = platform;
  const { body } = await client.post(AGENTS, draft, tenancy.byKey);
  const { llmProviderId: providerId, llmModelId: modelId } = Object(body);
  const llm = [{ providerId, modelId }];
  for (const fallbacks of [{ llm, hedging: true }, { stt: [] }, { hedging: false }]) {
    const path = `${AGENTS}/${idIn(body)}`;
    const sent = { headers: tenancy.byKey, body: { fallbacks } };
    const changed = Object((await client.send("PATCH", path, sent)).body);
    const hedging = fallbacks.hedging ?? true;
    assert.deepEqual(changed.fallbacks, { llm, tts: [], stt: [], hedging });
  }
});

test("every field of a change is checked and named, including the switch", async () => {
  const created = await platform.client.post(AGENTS, draft, tenancy.byKey);
  const path = `${AGENTS}/${idIn(created.body)}`;
  for (const body of [{ active: 1 }, { active: null }, { name: "" }, { persona: 7 }]) {
    const answer = await platform.client.send("PATCH", path, { headers: tenancy.byKey, body });
    assert.equal(answer.status, 400);
    assert.ok(answer.text.startsWith(`{"error":"${Object.keys(body)[0]}: expected `), answer.text);
  }
});

test("a provider or model that does not exist or fit is named", async () => {
  const wrong: readonly (readonly [string, object])[] = [
    ["llmProviderId", { llmProviderId: "nobody" }],
    ["llmProviderId", { llmProviderId: draft.ttsProviderId }],
    ["ttsModelId", { ttsModelId: "no-such-voice" }],
  ];
  for (const [path, fault] of wrong) {
    const answer = await platform.client.post(AGENTS, { ...draft, ...fault }, tenancy.byKey);
    assert.equal(answer.status, 400, answer.text);
    assert.ok(answer.text.includes(path), answer.text);
  }
});

test("languages that the STT cannot tell, or that are no languages, and voices for others are named", async () => {
  const { client } = platform;
  const { byKey } = tenancy;
  const { ttsProviderId, ttsModelId, llmProviderId } = draft;
  const voice = { language: "de-DE", providerId: ttsProviderId, modelId: ttsModelId };
  const de = ["de-DE"];
  const many = "af be bn bs bg ca zh hr cs da de".split(" ");
  const cannot =
    /^persona\.languages: the STT model deepgram\/flux-general-en does not tell .* deepgram\/nova-3,/;
  const wrong: readonly (readonly [RegExp, object, (readonly object[])?, string?])[] = [
    [cannot, { languages: de }, [], "flux-general-en"],
    [/^persona\.languages\.1: .* tells only these apart: /, { languages: ["de", "eo"] }],
    [/^persona\.language: .* tells only these apart: /, { languages: de, language: "eo" }],
    [/^persona\.languages\.0: "en-GB" is the same language as "en-US"/, { languages: ["en-GB"] }],
    [/^persona\.languages\.0: expected another language/, { languages: ["German, please"] }],
    [/^persona\.languages\.0: expected another language/, { languages: [7] }],
    [/^persona\.languages: expected languages/, { languages: many }],
    [/^persona\.languages: expected languages/, { languages: "de" }],
    [
      /^ttsConfig\.languageVoices\.0\.language: expected one of persona/,
      { languages: [] },
      [voice],
    ],
    [
      /^ttsConfig\.languageVoices\.1\.language: "de-DE" is the same/,
      { languages: de },
      [voice, voice],
    ],
    [
      /^ttsConfig\.languageVoices\.0\.providerId: expected a text-to-speech provider/,
      { languages: de },
      [{ ...voice, providerId: llmProviderId }],
    ],
    [
      /^ttsConfig\.languageVoices\.0\.modelId: "no-such-voice" is not a model/,
      { languages: de },
      [{ ...voice, modelId: "no-such-voice" }],
    ],
    [/^ttsConfig\.languageVoices\.0\.voice: /, { languages: de }, [{ ...voice, voice: "" }]],
    [
      /^persona\.languageTexts\.0\.language: expected one of persona\.languages, "es" is none/,
      { languages: de, languageTexts: [{ language: "es" }] },
    ],
    [
      /^persona\.languageTexts\.1\.language: "de-DE" is the same/,
      { languages: de, languageTexts: [{ language: "de-DE" }, { language: "de-DE" }] },
    ],
    [
      /^persona\.languageTexts\.0\.greeting: \{\{name\}\} needs a default/,
      { languages: de, languageTexts: [{ language: "de-DE", greeting: "Hallo {{name}}." }] },
    ],
    [
      /^persona\.languageTexts\.0\.stockPhrases\.hello: expected one of the fields/,
      { languages: de, languageTexts: [{ language: "de-DE", stockPhrases: { hello: "Hallo?" } }] },
    ],
    [
      /^persona\.briefingLanguage: expected persona\.language or one of persona\.languages, "es" is neither/,
      {
        languages: de,
        briefingLanguage: "es",
      },
    ],
    [/^persona\.languageTexts: expected what/, { languages: de, languageTexts: "de" }],
  ];
  for (const [error, persona, languageVoices = [], sttModelId = "nova-3"] of wrong) {
    const body = { ...draft, sttModelId, persona, ttsConfig: { languageVoices } };
    const answer = await client.post(AGENTS, body, byKey);
    assert.equal(answer.status, 400, answer.text);
    assert.match(Object(answer.body).error, error);
  }
  const texts = { language: "de-DE", stockPhrases: { waiting: ["Ich schaue nach."] } };
  const persona = { languages: de, languageTexts: [texts], briefingLanguage: "de-DE" };
  const body = { ...draft, persona, ttsConfig: { languageVoices: [voice] } };
  const made = await client.post(AGENTS, body, byKey);
  assert.equal(made.status, 201, made.text);
  assert.deepEqual(Object(made.body).persona.languageTexts, [{ ...texts, greeting: null }]);
  assert.equal(Object(made.body).persona.briefingLanguage, "de-DE");
  assert.deepEqual(Object(made.body).ttsConfig.languageVoices, [{ ...voice, voice: null }]);
  const path = `${AGENTS}/${idIn(made.body)}`;
  const change = (body: object) => client.send("PATCH", path, { headers: byKey, body });
  const changed = await change({ sttModelId: "flux-general-en" });
  assert.equal(changed.status, 400, changed.text);
  assert.match(Object(changed.body).error, cannot);
  const off = await change({ active: false, persona: { languages: ["eo"] } });
  assert.equal(off.status, 400, "also while it is switched off");
});

test("of two agents that are created at once, only one gets the plan's last place", async () => {
  const free = await platform.newTenancy("free");
  const answers = await Promise.all(
    [1, 2, 3].map(() => platform.client.post(AGENTS, draft, free.byToken)),
  );
  assert.deepEqual(
    answers.map(({ status }) => status).sort((a, b) => a - b),
    [201, 403, 403],
  );
});

test("a model that the plan does not include is refused", async () => {
  const free = await platform.newTenancy("free");
  const answer = await platform.client.post(
    AGENTS,
    { ...draft, llmModelId: "gpt-6-sol" },
    free.byToken,
  );
  assert.equal(answer.status, 403);
  assert.match(answer.text, /llmModelId/);
});
