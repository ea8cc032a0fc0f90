import assert from "node:assert/strict";
import { test } from "node:test";
import { Sqlite } from "../../../storage/sqlite/sqlite-library.js";
import { ForeignKeyViolationError } from "../../../storage/statements/foreign-key-violation.js";
import {
  agentRecord,
  callRecord,
  insertProviders,
  NOON_MS,
  providerRecord,
} from "../sample-records.js";
import { temporaryDatabase, temporaryFile } from "../temporary-file.js";

const ROOM = 10;

test("an agent is read back as it was written, by its own organization only", async (context) => {
  const database = await temporaryDatabase(context);
  await insertProviders(database);
  assert.equal(await database.agents.insert(agentRecord(), ROOM), true);
  assert.deepEqual(await database.agents.findById("org", "agent"), agentRecord());
  assert.equal(await database.agents.findById("other", "agent"), undefined);
});

test("an agent's tools are read back as they were written, with its headers encrypted separately", async (context) => {
  const database = await temporaryDatabase(context);
  await insertProviders(database);
  const lookUp = {
    type: "http",
    name: "look_up",
    description: "Finds an order",
    parameters: { type: "object", properties: { order: { type: "string" } } },
    url: "https://orders.test/find",
    method: "POST",
    headerNames: ["authorization"],
    timeoutMs: 5_000,
    speak: false,
  } as const;
  const { description, parameters, timeoutMs } = lookUp;
  const show = { type: "client", name: "show", description, parameters, timeoutMs } as const;
  const agent = agentRecord({
    tools: [
      { type: "hangup" },
      { type: "transfer", to: "sip:desk@bakery.test", description: "Complaints" },
      { type: "sendDigits" },
      lookUp,
      show,
    ],
    sealedToolHeaders: "00:11:22",
  });
  await database.agents.insert(agent, ROOM);
  assert.deepEqual(await database.agents.findById("org", "agent"), agent);
  const changed = agentRecord({ tools: [lookUp], sealedToolHeaders: null });
  assert.deepEqual(await database.agents.update("org", "agent", changed), changed);
  await database.agents.update("org", "agent", agent);
  const { sealedToolHeaders: _, ...others } = changed;
  const kept = { ...changed, sealedToolHeaders: agent.sealedToolHeaders };
  assert.deepEqual(await database.agents.update("org", "agent", others), kept);
});

test("an agent without a temperature is read back as such, and uses of models are counted across all organizations", async (context) => {
  const database = await temporaryDatabase(context);
  await insertProviders(database);
  const agent = agentRecord({ llmConfig: { temperature: null, maxTokens: 90 } });
  await database.agents.insert(agent, ROOM);
  assert.deepEqual(await database.agents.findById("org", "agent"), agent);
  await database.agents.insert(agentRecord({ id: "second" }), ROOM);
  await database.agents.insert(agentRecord({ id: "off", active: false }), ROOM);
  const { llmProviderId, llmModelId, ttsProviderId, ttsModelId } = agent;
  const uses = await database.agents.listModelUses();
  assert.deepEqual(
    uses.filter(({ modelId }) => [llmModelId, ttsModelId].includes(modelId)),
    [
      { providerId: llmProviderId, modelId: llmModelId, agents: 2 },
      { providerId: ttsProviderId, modelId: ttsModelId, agents: 2 },
    ],
  );
});

test("if two agents are inserted concurrently with room for one, one is stored", async (context) => {
  const database = await temporaryDatabase(context);
  await insertProviders(database);
  const [first, second, elsewhere] = await Promise.all([
    database.agents.insert(agentRecord({ id: "a" }), 1),
    database.agents.insert(agentRecord({ id: "b" }), 1),
    database.agents.insert(agentRecord({ id: "c", orgId: "other" }), 1),
  ]);
  // The database decides which of the two comes first.
  assert.notEqual(first, second);
  assert.equal(elsewhere, true);
  assert.equal((await database.agents.list("org")).length, 1);
});

test("an agent needs providers that exist, when it is created and when it is changed", async (context) => {
  const database = await temporaryDatabase(context);
  await insertProviders(database);
  const homeless = agentRecord({ sttProviderId: "nobody" });
  await assert.rejects(database.agents.insert(homeless, ROOM), ForeignKeyViolationError);
  await database.agents.insert(agentRecord(), ROOM);
  await assert.rejects(database.agents.update("org", "agent", homeless), ForeignKeyViolationError);
});

test("agents are listed in the order of creation, even those of one moment", async (context) => {
  const database = await temporaryDatabase(context);
  await insertProviders(database);
  for (const id of ["z", "m", "a"]) await database.agents.insert(agentRecord({ id }), ROOM);
  await database.agents.insert(agentRecord({ id: "old", createdAtMs: NOON_MS - 1 }), ROOM);
  assert.deepEqual(
    (await database.agents.list("org")).map(({ id }) => id),
    ["old", "z", "m", "a"],
  );
});

test("an update replaces everything but id, organization and time of creation", async (context) => {
  const database = await temporaryDatabase(context);
  await insertProviders(database);
  await database.agents.insert(agentRecord(), ROOM);
  const replacement = agentRecord({
    id: "another",
    orgId: "other",
    name: "Night desk",
    active: false,
    ttsConfig: { speed: 2, voice: "v1" },
    createdAtMs: 0,
    updatedAtMs: NOON_MS + 5,
  });
  const updated = { ...replacement, id: "agent", orgId: "org", createdAtMs: NOON_MS };
  assert.deepEqual(await database.agents.update("org", "agent", replacement), updated);
  assert.deepEqual(await database.agents.findById("org", "agent"), updated);
  assert.equal(await database.agents.update("other", "agent", replacement), undefined);
});

test("an agent is removed once, by its own organization, and its calls are kept", async (context) => {
  const database = await temporaryDatabase(context);
  await insertProviders(database);
  await database.agents.insert(agentRecord(), ROOM);
  await database.calls.start(callRecord(), "run");
  assert.equal(await database.agents.remove("other", "agent"), false);
  assert.equal(await database.agents.remove("org", "agent"), true);
  assert.equal(await database.agents.remove("org", "agent"), false);
  assert.equal((await database.calls.findById("org", "call"))?.agentId, "agent");
});

test("the agents that use a provider are found, whatever they use it for", async (context) => {
  const database = await temporaryDatabase(context);
  const { agents, providers } = database;
  await insertProviders(database);
  await providers.insertOwned(providerRecord({ id: "p" }), ROOM);
  await agents.insert(agentRecord({ id: "a", llmProviderId: "p", ttsProviderId: "p" }), ROOM);
  await agents.insert(agentRecord({ id: "b" }), ROOM);
  await agents.insert(agentRecord({ id: "c", sttProviderId: "p", orgId: "other" }), ROOM);
  await agents.insert(agentRecord({ id: "d", ttsProviderId: "p" }), ROOM);
  assert.deepEqual(await agents.listReferencing("p"), [
    { id: "a", orgId: "org", name: "Front desk" },
    { id: "c", orgId: "other", name: "Front desk" },
    { id: "d", orgId: "org", name: "Front desk" },
  ]);
});

test("an agent is found without an organization if it is public somewhere", async (context) => {
  const database = await temporaryDatabase(context);
  const { agents } = database;
  await insertProviders(database);
  const open = agentRecord({ id: "open", allowedOrigins: ["https://bakery.test"] });
  await agents.insert(open, ROOM);
  await agents.insert(agentRecord({ id: "private" }), ROOM);
  assert.deepEqual(await agents.findPublic("open"), open);
  assert.equal(await agents.findPublic("private"), undefined);
  assert.equal(await agents.findPublic("unknown"), undefined);
});

test("only active agents of the organization are counted", async (context) => {
  const database = await temporaryDatabase(context);
  await insertProviders(database);
  await database.agents.insert(agentRecord({ id: "a" }), ROOM);
  await database.agents.insert(agentRecord({ id: "b", active: false }), ROOM);
  await database.agents.insert(agentRecord({ id: "c", orgId: "other" }), ROOM);
  assert.equal(await database.agents.countActive("org"), 1);
});

test("an agent that was stored before some settings existed has their former behaviour", async (context) => {
  const filePath = temporaryFile();
  const database = await temporaryDatabase(context, filePath);
  await insertProviders(database);
  await database.agents.insert(agentRecord(), ROOM);
  const file = new Sqlite(filePath);
  file.exec(`update agents set fallbacks = json_remove(fallbacks, '$.hedging'),
    persona = json_remove(persona, '$.stockPhrases'),
    thresholds = json_remove(thresholds, '$.backchannels', '$.backchannelPhrases', '$.interruptionPhrases', '$.preemptiveGeneration', '$.onProviderFailure',
      '$.onUnrecognizedSpeech',      '$.maxEndpointingDelayMs', '$.dtmfDigits', '$.fillerAfterMs', '$.idleTimeoutMs')`);
  file.close();
  const agent = await database.agents.findById("org", "agent");
  assert.deepEqual(agent?.thresholds, agentRecord().thresholds);
  assert.deepEqual(agent?.persona, agentRecord().persona);
  assert.deepEqual(agent?.fallbacks, { llm: [], tts: [], stt: [], hedging: false });
});
