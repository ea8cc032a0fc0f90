import assert from "node:assert/strict";
import { test } from "node:test";
import { ListenedCall } from "../../../engine/calls/call-listening.js";
import { CallRefusedError, type RefusalReason } from "../../../engine/calls/call-refused-error.js";
import type { CallAudioTap } from "../../../engine/conversation/actor.js";
import { ORGANIZATION_ENDED } from "../../../engine/conversation/call-end.js";
import { WEB_AUDIO, webStreamAudio } from "../../../engine/conversation/leg-audio.js";
import { AgentUnavailableError } from "../../../engine/tenancy/agents/agent-for-call.js";
import { VendorError } from "../../../engine/vendors/contracts.js";
import { StorageUnwritableError } from "../../../storage/statements/storage-error.js";
import { agentRecord, callRecord, NOON_MS } from "../../storage/sample-records.js";
import { openingStand, TENANT } from "./opening-stand.js";

const NONE = [0, 0];

test("the record of a call says what the sandbox simulated", async (t) => {
  const { open, given, forCall, store, slots } = openingStand(t);
  const simulated = async () => {
    const { callId } = await open();
    slots.release(callId);
    const [, record] = store.asked.findLast(([what]) => what === "start") ?? [];
    return Object(record).metadata.simulated;
  };
  const global = { orgId: null };
  const llm = { ...forCall.llm, ...global };
  const tts = { ...forCall.tts, ...global };
  const stt = { ...forCall.stt, ...global, settings: { sandbox: true } };
  given.agent = async () => ({ ...forCall, llm, tts, stt });
  assert.deepEqual(await simulated(), ["stt"]);

  given.isSandboxed = true;
  assert.deepEqual(await simulated(), ["llm", "tts", "stt"]);

  given.agent = async () => ({ ...forCall, llm: { ...llm, orgId: "org" }, tts, stt });
  assert.deepEqual(
    await simulated(),
    ["tts", "stt"],
    "an organization's own account is at its vendor",
  );
});

function refused(reason: RefusalReason, message: RegExp) {
  return (error: unknown) => {
    assert.ok(error instanceof CallRefusedError, String(error));
    assert.equal(error.reason, reason);
    assert.match(error.message, message);
    return true;
  };
}

test("a call that is opened has its slot and its record, and is announced before it is connected", async (t) => {
  const {
    open,
    announced,
    store,
    caller,
    held,
    ready,
    refused: none,
    liveCalls,
    clock,
    log,
  } = openingStand(t);
  const opening = open({ canTransfer: true });
  clock.stall(40);
  const session = await opening;
  assert.equal(session.callId, "id-1");
  assert.equal(liveCalls.find("id-1"), session);
  const [call] = announced;
  assert.deepEqual(call, {
    callId: "id-1",
    agentName: "Front desk",
    historyKey: call?.historyKey,
    tap: call?.tap,
  });
  assert.ok(call?.tap instanceof ListenedCall, "it is not recorded, but can be listened to");
  assert.deepEqual(held(), [1, 1]);
  assert.deepEqual([ready, none], [[40], []]);
  const [, record, runId] = store.asked.find(([what]) => what === "start") ?? [];
  assert.ok(typeof record === "object" && record !== null && "metadata" in record);
  assert.deepEqual([runId, record.metadata], ["run", { direction: "web", apiKeyId: "its key" }]);
  assert.deepEqual(caller.messages[0], { type: "connected" });
  assert.deepEqual(log.lines.find(({ message }) => message === "call started")?.fields, {
    callId: "id-1",
    orgId: "org",
    agentId: "agent",
  });
  session.hangUp();
  assert.deepEqual(held(), NONE);
});

test("a refused caller gets the reason, leaves no resources behind, and is counted", async (t) => {
  const paused = (status: AgentUnavailableError["status"]) => () =>
    Promise.reject(new AgentUnavailableError(status, "not now"));
  const reasons: string[] = [];
  for (const [reason, message, prepare] of [
    ["serverStopping", /restarting/, ({ opener }) => opener.stop()],
    ["overloaded", /^too busy$/, ({ given }) => (given.overload = "too busy")],
    [
      "storeFailing",
      /for the moment: disk full/,
      ({ given }) => (given.storeRefusal = "disk full"),
    ],
    ["agentNotFound", /^not now$/, ({ given }) => (given.agent = paused("notFound"))],
    ["modelNotAllowed", /^not now$/, ({ given }) => (given.agent = paused("paused_plan"))],
    ["limitReached", /60 minutes of this month/, ({ given }) => (given.minutes = 60)],
    [
      "limitReached",
      /allows 2 calls at the same time/,
      ({ slots }) => ["one", "two"].forEach((id) => slots.acquire("org", id, 2)),
    ],
    [
      "storeFailing",
      /for the moment: it could not be stored/,
      ({ store }) => {
        store.fault = () => {
          throw new StorageUnwritableError("SQLITE_FULL", "database or disk is full");
        };
      },
    ],
  ] satisfies [RefusalReason, RegExp, (of: ReturnType<typeof openingStand>) => unknown][]) {
    const stand = openingStand(t);
    prepare(stand);
    const before = stand.held();
    await assert.rejects(stand.open(), refused(reason, message));
    assert.deepEqual([stand.held(), stand.announced, stand.ready], [before, [], []], reason);
    assert.deepEqual(stand.refused, [reason]);
    reasons.push(`${(await stand.opener.refusal({ tenant: TENANT, agentId: undefined }))?.reason}`);
  }
  assert.equal(reasons.pop(), "undefined", "whether it can be stored is seen when it is tried");
  assert.equal(reasons.at(-1), "limitReached");
  assert.ok(!reasons.includes("undefined"), "who only asks hears the same");
});

test("a full server takes a caller who had a call before, as long as there is a place for such callers", async (t) => {
  const { open, given, opener } = openingStand(t);
  given.overload = "too busy";
  const conversation = { sessionId: "second", historyKey: "key", before: ["first"] };
  const back = { channel: "phone", conversation } as const;
  await assert.rejects(open(back), refused("overloaded", /too busy/), "no record of a call");
  given.last = callRecord({ id: "before", sessionId: "first", endedAtMs: NOON_MS });
  await assert.rejects(open(), refused("overloaded", /too busy/), "a new caller");
  const asked = { tenant: TENANT, agentId: undefined };
  assert.equal((await opener.refusal(asked))?.reason, "overloaded");
  assert.equal(await opener.refusal({ ...asked, isReturning: true }), undefined);
  const session = await open(back);
  assert.equal(given.returned, 1);
  await assert.rejects(open(back), refused("overloaded", /too busy/), "no further place");
  session.hangUp();
});

test("a refusal whose event is not stored in time is told as one that promises no event", async (t) => {
  const stand = openingStand(t);
  const { open, given, store, refused: counted } = stand;
  given.agent = () => Promise.reject(new AgentUnavailableError("notFound", "not now"));
  // The rows of the store are locked: its answer comes when nobody waits any more.
  store.calls.refuse = () => new Promise(() => {});
  const opening = open();
  const told = assert.rejects(opening, refused("storeFailing", /does not answer/));
  for (let waited = 0; waited < 20; waited += 1) await new Promise(setImmediate);
  store.clock.advance(5_000);
  await told;
  assert.deepEqual(counted, ["storeFailing"]);
});

test("a refusal whose event the store drops is told as one that promises no event", async (t) => {
  const { open, given, store } = openingStand(t);
  given.agent = () => Promise.reject(new AgentUnavailableError("notFound", "not now"));
  store.calls.refuse = () => Promise.reject(new Error("the event does not fit"));
  await assert.rejects(open(), refused("storeFailing", /does not answer/));
});

test("what is no refusal goes through as it is, and gives everything back", async (t) => {
  const { open, opener, given, held, refused: counted } = openingStand(t);
  given.agent = () => Promise.reject(new Error("a mistake"));
  await assert.rejects(open(), /^Error: a mistake$/);
  await assert.rejects(opener.refusal({ tenant: TENANT, agentId: undefined }), /a mistake/);
  assert.deepEqual([held(), counted], [NONE, []]);
});

test("a place is free up to the plan's last one", async (t) => {
  const { opener, slots } = openingStand(t);
  const asks = { tenant: TENANT, agentId: undefined };
  slots.acquire("org", "one", 2);
  assert.equal(await opener.refusal(asks), undefined);
  assert.equal(opener.stopping, false);
  opener.stop();
  assert.equal(opener.stopping, true);
  assert.equal(await opener.purgeHistory(), 7);
});

test("a call that was placed from here has its slot and its id already, and comes in where no other would", async (t) => {
  const { open, slots, given, held, store } = openingStand(t);
  for (const id of ["placed", "other"]) slots.acquire("org", id, 2);
  given.overload = "too busy";
  const session = await open({ placedCallId: "placed", channel: "phone" });
  assert.deepEqual([session.callId, held()], ["placed", [2, 1]]);
  const [, record] = store.asked.find(([what]) => what === "start") ?? [];
  assert.ok(typeof record === "object" && record !== null && "sessionId" in record);
  assert.equal(record.sessionId, "placed", "its record is found by the id that was told");
});

test("a stop during the slot request prevents the call", async (t) => {
  const { open, opener, slots, held } = openingStand(t);
  const acquire = slots.acquire.bind(slots);
  slots.acquire = (...slot) => {
    opener.stop();
    return acquire(...slot);
  };
  await assert.rejects(open(), refused("serverStopping", /restarting/));
  assert.deepEqual(held(), NONE);
});

test("a call that is ended while it is opened ends as soon as it is open", async (t) => {
  const { open, stt, liveCalls, caller, held, announced, clock } = openingStand(t);
  stt.isStalled = true;
  const opening = open();
  while (stt.askedCount === 0) await new Promise(setImmediate);
  assert.deepEqual([held(), announced], [[1, 1], []]);
  liveCalls.find("id-1")?.end(ORGANIZATION_ENDED);
  stt.answer();
  await opening;
  for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
  clock.advance(60_000);
  assert.deepEqual(
    [caller.endings.map(({ reason }) => reason), held()],
    [["organizationEnded"], NONE],
  );
});

test("a call that is ended before its record is started ends as soon as it is open", async (t) => {
  const { open, store, liveCalls, caller, clock } = openingStand(t);
  store.fault = (what) => {
    if (what === "start") liveCalls.find("id-1")?.end(ORGANIZATION_ENDED);
  };
  await open();
  for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
  clock.advance(60_000);
  assert.deepEqual(
    caller.endings.map(({ reason }) => reason),
    ["organizationEnded"],
  );
});

test("STT gets the agent's settings, and is closed when the caller leaves", async (t) => {
  const { open, stt, left, held, store } = openingStand(t);
  const asked: unknown[] = [];
  const listen = stt.open.bind(stt);
  stt.open = (options, ...rest) => {
    asked.push(options);
    return listen(options, ...rest);
  };
  (await open()).hangUp();
  assert.deepEqual(asked, [
    {
      language: "en-US",
      modelId: "ears",
      format: WEB_AUDIO.input,
      endpointingMs: 200,
      eagerTurns: false,
    },
  ]);
  stt.isStalled = true;
  const opening = open();
  while (stt.askedCount === 1) await new Promise(setImmediate);
  left.abort();
  await assert.rejects(opening, refused("callerLeft", /left before the call began/));
  const endings = store.ends.map(({ status, metadata }) => [status, metadata["endReason"]]);
  assert.deepEqual(endings.at(-1), ["completed", "callerLeft"]);
  assert.deepEqual(held(), NONE);
});

test("unavailable STT is announced in the call; a bug ends it", async (t) => {
  const told = openingStand(t);
  const fault = new VendorError("deepgram", "refused", "deepgram: no");
  told.stt.failures.push(fault);
  await told.open();
  assert.equal(told.announced.length, 1);
  assert.deepEqual(told.store.measured, [["failed", ["stt", fault]]]);

  const broken = openingStand(t);
  broken.given.vendorFault = (category) => {
    if (category === "stt") throw new Error("a mistake");
  };
  await assert.rejects(broken.open(), /a mistake/);
  assert.deepEqual([broken.held(), broken.announced], [NONE, []]);
});

test("a call of which a kind of vendor cannot be used begins to say so", async (t) => {
  const { open, given, stt, store, announced } = openingStand(t);
  const fault = new VendorError("openai", "unauthorized", "openai: its key is missing");
  given.vendorFault = (category) => {
    if (category === "llm") throw fault;
  };
  await open();
  assert.deepEqual([announced.length, stt.askedCount], [1, 0]);
  assert.deepEqual(store.measured[0], ["failed", ["llm", fault]]);
});

test("without a usable voice a call in another of the agent's languages begins to say so, like any other", async (t) => {
  const { open, given, forCall, store, announced } = openingStand(t);
  const { agent } = forCall;
  const persona = { ...agent.persona, languages: ["de-DE"] };
  given.agent = async () => ({ ...forCall, agent: { ...agent, persona } });
  given.history = [{ role: "user", content: "guten Tag" }];
  given.last = callRecord({ id: "before", endedAtMs: NOON_MS, status: "completed" });
  given.last = { ...given.last, metadata: { language: "de-DE" } };
  const fault = new VendorError("edge", "unauthorized", "edge: its key is missing");
  given.vendorFault = (category) => {
    if (category === "tts") throw fault;
  };
  const session = await open({ historyKey: "key" });
  assert.equal(announced.length, 1);
  assert.deepEqual(store.measured[0], ["failed", ["tts", fault]]);
  const notes = store.asked.filter(([what]) => what === "annotate").map((note) => note.slice(1));
  assert.deepEqual(notes.at(-1), [session.callId, { language: "de-DE" }], "it is in German");
});

test("a caller who was cut off continues that call, and the record refers to it", async (t) => {
  const { open, given, store, caller } = openingStand(t);
  given.history = [{ role: "user", content: "my name is Ada" }];
  given.last = callRecord({ id: "before", endedAtMs: NOON_MS, status: "completed" });
  given.last = { ...given.last, metadata: { endReason: "serverStopping" } };
  const conversation = { sessionId: "second", historyKey: "key", before: ["first"] };
  const session = await open({ conversation });
  const notes = store.asked.filter(([what]) => what === "annotate").map((note) => note.slice(1));
  assert.deepEqual(notes, [
    ["before", { continuedBy: session.callId }],
    [session.callId, { continues: "before" }],
  ]);
  const said = JSON.stringify(caller.messages);
  assert.match(said, /connected/);
});

test("a call that continues a muted one is muted from its start, greets nobody, and has its notes in its record", async (t) => {
  const { open, given, store, caller } = openingStand(t);
  given.last = callRecord({ id: "before", endedAtMs: NOON_MS, status: "failed" });
  const metadata = {
    isMuted: true,
    contextNotes: ["The caller has a refund."],
    unspokenTexts: ["We close soon."],
  };
  given.last = { ...given.last, metadata };
  const conversation = { sessionId: "second", historyKey: "key", before: ["first"] };
  const session = await open({ conversation });
  const [, started] = store.asked.find(([what]) => what === "start") ?? [];
  const { isMuted, contextNotes, unspokenTexts } = Object(started).metadata;
  assert.deepEqual({ isMuted, contextNotes, unspokenTexts }, metadata);
  const notes = store.asked.filter(([what]) => what === "annotate").map((note) => note.slice(1));
  assert.deepEqual(
    notes[0],
    ["before", { continuedBy: session.callId, unspokenTexts: null }],
    "the call before has handed its texts on",
  );
  assert.deepEqual(
    caller.messages.map(({ type }) => type),
    ["connected"],
  );
  assert.equal(session.control({ type: "unmute" }), "done");
});

test("where the plan is full, a caller whose call still lives takes its place", async (t) => {
  const { open, given, slots, liveCalls, ended } = openingStand(t);
  given.history = [{ role: "user", content: "hi" }];
  given.last = callRecord({ id: "living" });
  for (const id of ["living", "other"]) slots.acquire("org", id, 2);
  liveCalls.add({ callId: "living", end: () => undefined });
  const session = await open({ historyKey: "key" });
  assert.deepEqual(slots.callsOf("org"), ["other", session.callId]);
  assert.deepEqual(
    ended.map(([callId, { reason }]) => [callId, reason]),
    [["living", "callerLeft"]],
  );
});

test("a call is recorded where its agent wants that, and its transfers lead where they may", async (t) => {
  const { open, given, forCall, announced } = openingStand(t);
  const heardByRecording: Uint8Array[] = [];
  const tap: CallAudioTap = {
    caller: () => undefined,
    agent: (sound) => void heardByRecording.push(sound),
    agentCut: () => undefined,
    end: () => undefined,
  };
  const transfer = (to: string) =>
    ({ type: "transfer", name: to.slice(1), description: "hands on", to }) as const;
  const agent = { ...agentRecord(), tools: [transfer("+1555"), transfer("+1666")] };
  given.agent = async () => ({ ...forCall, agent });
  const reached: string[] = [];
  given.mayReach = (orgId, to) => {
    reached.push(`${orgId} ${to}`);
    return to === "+1555";
  };
  const recorded: unknown[] = [];
  given.recording = (key, { recording }, heard) => {
    recorded.push([key, recording, heard]);
    return tap;
  };
  const audio = webStreamAudio({ encoding: "pcm16", sampleRateHz: 24_000 }, () =>
    assert.fail("nothing is converted"),
  );
  const { callId } = await open({ canTransfer: true, audio });
  assert.deepEqual(recorded, [[{ callId, orgId: "org" }, agent.recording, audio]]);
  assert.deepEqual(reached, ["org +1555", "org +1666"]);
  const sound = new Uint8Array(2);
  announced[0]?.tap?.agent(sound);
  assert.deepEqual(heardByRecording, [sound]);
  await open({ audio });
  assert.deepEqual(reached.length, 2, "nobody can hand the caller on");
});
