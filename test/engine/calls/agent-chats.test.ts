import assert from "node:assert/strict";
import { test } from "node:test";
import { AgentChats, ChatError } from "../../../engine/calls/agent-chats.js";
import { RequestError } from "../../../engine/request-error.js";
import {
  type AgentForCall,
  AgentUnavailableError,
} from "../../../engine/tenancy/agents/agent-for-call.js";
import type { Tenant } from "../../../engine/tenancy/tenant.js";
import { VendorError } from "../../../engine/vendors/contracts.js";
import type { RequestErrorCode } from "../../../storage/parley-error.js";
import { RecordingLogger } from "../../doubles/recording-logger.js";
import { ScriptedLanguageModel } from "../../doubles/scripted-language-model.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";
import {
  agentRecord,
  NOON_MS,
  organizationRecord,
  planRecord,
  providerRecord,
} from "../../storage/sample-records.js";

const CHAT_REPLY_MAX_MS = 60_000;
const CHATS_MAX = 50;
const CHATS_OF_ORGANIZATION_MAX = 5;

const HELLO = [{ role: "user", content: "Hello" } as const];
const COMPLETION = { finishReason: "stop", promptTokens: 7, completionTokens: 3 } as const;

function tenantOf(id: string): Tenant {
  return {
    organization: organizationRecord({ id }),
    plan: planRecord(),
    userId: "user",
    apiKeyId: undefined,
    scopes: [],
  };
}

const FOR_CALL: AgentForCall = {
  agent: agentRecord(),
  llm: providerRecord({ orgId: null }),
  tts: providerRecord(),
  stt: providerRecord(),
  sttModelId: "nova-3",
  fallbacks: { llm: [], tts: [], stt: [] },
  languageVoices: [],
};

class Trial {
  readonly clock = new VirtualClock(NOON_MS);
  readonly log = new RecordingLogger();
  readonly model = new ScriptedLanguageModel();
  readonly chats: AgentChats;

  constructor(refusal?: AgentUnavailableError, forCall = FOR_CALL) {
    const llm = { vendor: "scripted", modelId: "m", temperature: 0.5, maxTokens: 50 };
    this.chats = new AgentChats({
      agents: {
        forCall: () => (refusal === undefined ? Promise.resolve(forCall) : Promise.reject(refusal)),
      },
      knowledge: { forCall: async () => [], search: async () => [] },
      llmOf: () => ({ ...llm, client: this.model, systemPrompt: "Be brief." }),
      clock: this.clock,
      log: this.log,
    });
  }

  begin(orgId = "org", signal = new AbortController().signal) {
    return this.chats.start(tenantOf(orgId), "agent", HELLO, signal);
  }
}

function failure(code: RequestErrorCode) {
  return (error: unknown) => error instanceof RequestError && error.code === code;
}

function tooMany(code: RequestErrorCode) {
  return (error: unknown) => failure(code)(error) && (error as RequestError).retryAfterSec === 5;
}

test("a reply is handed on as it is made, with the agent's prompt before the conversation", async () => {
  const { chats, model, begin } = bound(new Trial());
  const chat = await begin();
  const heard: string[] = [];
  const reply = chat.reply((text) => heard.push(text));
  assert.deepEqual(model.requests[0], {
    modelId: "m",
    messages: [{ role: "system", content: "Be brief." }, ...HELLO],
    temperature: 0.5,
    maxTokens: 50,
  });
  model.say("Hi");
  model.say(" there");
  assert.equal(chats.count, 1);
  model.finish(COMPLETION);
  assert.deepEqual(await reply, { promptTokens: 7, completionTokens: 3 });
  assert.deepEqual(heard, ["Hi", " there"]);
  assert.equal(chats.count, 0);
});

test("a reply that takes too long times out", async () => {
  const trial = new Trial();
  const chat = await trial.begin();
  const reply = chat.reply(() => undefined);
  trial.clock.advance(CHAT_REPLY_MAX_MS - 1);
  assert.equal(trial.chats.count, 1);
  trial.clock.advance(1);
  await assert.rejects(
    reply,
    (error: unknown) =>
      error instanceof ChatError && error.message === "the reply took longer than 60 s",
  );
  assert.equal(trial.clock.pendingTimerCount, 0);
  assert.equal(trial.chats.count, 0);
});

test("a vendor's fault is reported in plain words and logged without the chat's text", async () => {
  const trial = new Trial();
  const reply = (await trial.begin()).reply(() => undefined);
  trial.model.fail(new VendorError("scripted", "rateLimited", "scripted: tier 1 of account 12"));
  await assert.rejects(reply, { message: "scripted limits the rate of requests" });
  assert.deepEqual(trial.log.ofLevel("warn")[0]?.fields, {
    agentId: FOR_CALL.agent.id,
    vendor: "scripted",
    fault: "rateLimited",
  });
});

test("the vendor's own text is passed on to an organization that owns the account", async () => {
  const trial = new Trial(undefined, { ...FOR_CALL, llm: providerRecord({ orgId: "org" }) });
  const reply = (await trial.begin()).reply(() => undefined);
  trial.model.fail(new VendorError("scripted", "rateLimited", "scripted: tier 1 of account 12"));
  await assert.rejects(reply, {
    message: "scripted limits the rate of requests (scripted: tier 1 of account 12)",
  });
  assert.deepEqual([trial.chats.count, trial.clock.pendingTimerCount], [0, 0]);
});

test("a fault of ours is not taken for the vendor's", async () => {
  const trial = new Trial();
  const reply = (await trial.begin()).reply(() => undefined);
  trial.model.fail(new TypeError("a bug"));
  await assert.rejects(reply, TypeError);
  assert.equal(trial.chats.count, 0);
});

test("a reservation is released when the request was aborted, whether or not the reply was requested", async () => {
  const trial = new Trial();
  const waiting = new AbortController();
  const unasked = new AbortController();
  const reply = (await trial.begin("org", waiting.signal)).reply(() => undefined);
  await trial.begin("org", unasked.signal);
  assert.equal(trial.chats.count, 2);
  unasked.abort();
  waiting.abort();
  await assert.rejects(reply, ChatError);
  await trial.begin("org", AbortSignal.abort());
  assert.equal(trial.chats.count, 0);
  assert.deepEqual(trial.log.ofLevel("warn"), []);
});

test("places are limited for each organization, and for all together", async () => {
  const trial = new Trial();
  for (let index = 0; index < CHATS_MAX; index += 1) {
    await trial.begin(`org ${Math.floor(index / CHATS_OF_ORGANIZATION_MAX)}`);
  }
  await assert.rejects(trial.begin("org 0"), tooMany("concurrency_limit_reached"));
  await assert.rejects(trial.begin("one more"), tooMany("overloaded"));
  assert.equal(trial.chats.count, CHATS_MAX);
});

test("the chats that an organization still has count after others of it have ended", async () => {
  const trial = new Trial();
  const ending = new AbortController();
  await trial.begin("org");
  for (let index = 1; index < CHATS_OF_ORGANIZATION_MAX; index += 1) {
    await trial.begin("org", ending.signal);
  }
  ending.abort();
  for (let index = 1; index < CHATS_OF_ORGANIZATION_MAX; index += 1) await trial.begin("org");
  await assert.rejects(trial.begin("org"), failure("concurrency_limit_reached"));
});

test("an agent that is unknown or takes no calls is refused before it takes a place", async () => {
  const unknown = new Trial(new AgentUnavailableError("notFound", "there is no such agent"));
  await assert.rejects(unknown.begin(), failure("agent_not_found"));
  const paused = new Trial(new AgentUnavailableError("paused_plan", "too large a model"));
  await assert.rejects(paused.begin(), failure("agent_not_active"));
  assert.equal(paused.chats.count, 0);
});

function bound(trial: Trial) {
  return { chats: trial.chats, model: trial.model, begin: () => trial.begin() };
}
