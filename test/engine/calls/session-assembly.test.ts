import assert from "node:assert/strict";
import { test } from "node:test";
import type { ClientMessage } from "../../../engine/conversation/effects.js";
import type { AgentForCall } from "../../../engine/tenancy/agents/agent-for-call.js";
import { VendorError } from "../../../engine/vendors/contracts.js";
import { agentRecord, providerRecord } from "../../storage/sample-records.js";
import { openingStand } from "./opening-stand.js";

const settled = async () => {
  for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate);
};

test("a session that breaks says so, ends its call, and is written down with what is left of it", async (t) => {
  const { open, caller, log, held, store } = openingStand(t);
  const sent: ClientMessage[] = [];
  const fault = new Error("broken");
  caller.send = (message) => {
    if (sent.push(message) === 1) throw fault;
  };
  await open();
  await settled();
  const ending = { reason: "internalError", status: "failed", message: "internal error" };
  assert.deepEqual(sent.slice(1), [
    { type: "error", reason: "internalError", message: "internal error" },
  ]);
  assert.deepEqual([caller.endings, held()], [[ending], [0, 0]]);
  assert.deepEqual(log.ofLevel("error"), [
    {
      level: "error",
      fields: { callId: "id-1", error: fault },
      message: "the conversation failed; ending the call",
    },
  ]);
  assert.deepEqual(
    store.ends.map(({ status, metadata }) => [status, metadata["endReason"]]),
    [["failed", "internalError"]],
  );
});

test("one failure of a vendor is reported once, also after a failed fallback", async (t) => {
  const { open, given, forCall, llm, store } = openingStand(t);
  const other = { provider: providerRecord({ id: "other", category: "llm" }), modelId: "large" };
  const fallbacks = { ...forCall.fallbacks, llm: [other] };
  given.agent = async (): Promise<AgentForCall> => ({ ...forCall, fallbacks });
  const session = await open();
  session.write("hello");
  await settled();
  const faults = ["first", "second"].map(
    (vendor) => new VendorError(vendor, "unauthorized", `${vendor}: no`),
  );
  for (const fault of faults) {
    llm.fail(fault);
    await settled();
  }
  assert.deepEqual(
    store.measured.filter(([what]) => what === "failed"),
    faults.map((fault) => ["failed", ["llm", fault]]),
  );
});

test("the audio of a call that has ended counts", async (t) => {
  const { open, clock, store } = openingStand(t);
  const session = await open();
  for (let frame = 0; frame < 50; frame += 1) {
    clock.advance(20);
    session.hear(new Uint8Array(640));
  }
  session.hangUp();
  await settled();
  assert.equal(store.ends[0]?.usage.sttSeconds, 1);
  assert.ok(!store.steps.includes("annotate"), "it goes on with no other call");
});

test("a new caller is greeted in the agent's words, and its LLM gets the tools that have a target", async (t) => {
  const { open, given, forCall, llm, tts } = openingStand(t);
  const agent = agentRecord({ tools: [{ type: "hangup" }, { type: "transfer", to: "+1555" }] });
  given.agent = async () => ({ ...forCall, agent });
  const toolsWhere = async (mayReach?: boolean) => {
    given.mayReach = mayReach === undefined ? undefined : () => mayReach;
    const session = await open({ canTransfer: true });
    session.write("hello");
    await settled();
    session.hangUp();
    return llm.requests.at(-1)?.tools?.map(({ name }) => name);
  };
  assert.deepEqual(await toolsWhere(true), ["hangup", "transfer"]);
  assert.deepEqual(await toolsWhere(false), ["hangup"]);
  assert.deepEqual(await toolsWhere(), ["hangup", "transfer"], "nobody is asked");
  assert.equal(tts.syntheses[0]?.request.text, "Hello!");
});
