import assert from "node:assert/strict";
import { test } from "node:test";
import type { CallJournal } from "../../../engine/calls/call-journal.js";
import { LiveCalls } from "../../../engine/calls/live-calls.js";
import { OutboundCalls } from "../../../engine/calls/outbound/outbound-calls.js";
import { OutboundTelephony } from "../../../engine/calls/outbound/outbound-telephony.js";
import type { Handlers } from "../../../engine/cluster/ipc-link.js";
import type { PrimaryLink, WorkerRequests } from "../../../engine/cluster/ipc-messages.js";
import { WorkerCallSlots, WorkerPlacedCalls } from "../../../engine/cluster/worker-ports.js";
import { OutboundTokens } from "../../../engine/security/outbound-token.js";
import { installationApis, NO_OWN_NUMBERS } from "../../doubles/installation-apis.js";
import { SilentLogger } from "../../doubles/silent-logger.js";
import { CALLS_MAX, newCluster, ORG, settled } from "./cluster-in-one-process.js";

const CLAIMS = { callId: "a", orgId: ORG, agentId: "agent", vendor: "twilio" };
const HANDED = { claims: CLAIMS, callRef: "CA1", answeredBy: "" };
const SESSION = { callId: "a", end: () => undefined };

/** Workers of a server with the calls that each has placed; `noted` is what their records are told. */
function placing() {
  const cluster = newCluster();
  const { clock } = cluster;
  const tokens = new OutboundTokens({ secret: "s".repeat(32), clock });
  const noted: string[] = [];
  const newProcess = (name: number, changes: Partial<Handlers<WorkerRequests>> = {}) => {
    const joined: { link?: PrimaryLink } = {};
    const primary: PrimaryLink = {
      request: (question, asks) =>
        joined.link?.request(question, asks) ?? Promise.reject(new Error()),
      notify: (question, asks) => joined.link?.notify(question, asks),
    };
    const slots = new WorkerCallSlots(primary);
    // Only what is called.
    const journal = {
      recordFailed: (_start: unknown, { reason }: { readonly reason: string }) =>
        noted.push(`${name}: ${reason}`),
      annotate: (_id: string, { answeredBy }: { readonly answeredBy: string }) =>
        noted.push(`${name}: ${answeredBy}`),
    } as unknown as CallJournal;
    const own = new OutboundCalls({
      telephony: new OutboundTelephony({
        apis: installationApis({}),
        ...NO_OWN_NUMBERS,
        baseUrl: undefined,
      }),
      tokens,
      opener: {
        preCall: () => Promise.resolve({}),
        refusal: () => Promise.resolve(undefined),
        leavesMessages: () => Promise.resolve(false),
        voiceFault: () => Promise.resolve(undefined),
      },
      phoneNumbers: undefined,
      dialTargets: undefined,
      doNotCall: { has: () => Promise.resolve(false) },
      slots,
      liveCalls: new LiveCalls(),
      journal,
      clock,
      newId: () => "id",
      log: new SilentLogger(),
    });
    const placed = new WorkerPlacedCalls({ own, tokens, slots, primary });
    joined.link = cluster.join(name, { ...placed.handlers, ...changes });
    return { own, placed, slots };
  };
  return { ...cluster, tokens, noted, newProcess };
}

/** One has placed a call that rings; the other gets the vendor's requests. */
async function ringing() {
  const cluster = placing();
  const [one, other] = [cluster.newProcess(1), cluster.newProcess(2)];
  await one.slots.acquire(ORG, CLAIMS.callId, CALLS_MAX);
  one.own.adopt(HANDED);
  return { ...cluster, one, other, token: cluster.tokens.mint(CLAIMS) };
}

const report = (status: string, answeredBy = "") => ({ status, answeredBy });

test("the answer to a ringing call is handled in whichever process it arrives", async () => {
  const { one, other, token, tokens } = await ringing();
  assert.deepEqual(await one.placed.answering(token), CLAIMS);
  assert.deepEqual(await other.placed.answering(token), CLAIMS);
  const nobodys = tokens.mint({ ...CLAIMS, callId: "b" });
  for (const wrong of [nobodys, "forged"]) {
    assert.equal(await other.placed.answering(wrong), undefined);
  }
});

test("the call goes with its slot to the process that has its stream, and to it alone", async () => {
  const { primary, one, other } = await ringing();
  const open = () => Promise.resolve(SESSION);
  assert.equal(await other.placed.connect("a", "another organization", open), undefined);
  assert.deepEqual([one.own.isRinging("a"), one.slots.count], [true, 1]);
  assert.equal(await other.placed.connect("a", ORG, open), SESSION);
  assert.deepEqual([one.slots.count, other.slots.count, primary.callCount], [0, 1, 1]);
  assert.equal(await one.placed.connect("a", ORG, open), undefined, "it is answered by now");
  assert.equal(primary.leave(1), 0);
});

test("a call that rings in the process of its stream is connected there without a question to the primary", async () => {
  const { primary, one } = await ringing();
  // From now on no request gets a response.
  primary.leave(1);
  assert.equal(await one.placed.connect("a", ORG, () => Promise.resolve(SESSION)), SESSION);
});

test("of two streams of one call in one process the second is refused", async () => {
  const { other } = await ringing();
  const open = () => Promise.resolve(SESSION);
  const both = [other.placed.connect("a", ORG, open), other.placed.connect("a", ORG, open)];
  assert.deepEqual(await Promise.all(both), [SESSION, undefined]);
});

test("a vendor's report goes to the process that has the call", async () => {
  const { noted, one, other, token } = await ringing();
  assert.equal(await other.placed.report(token, report("busy")), true);
  await settled();
  assert.deepEqual(noted, ["1: busy"]);
  assert.deepEqual([one.own.ringingCount, one.slots.count], [0, 0]);
  assert.equal(await other.placed.report("forged", report("busy")), false);
  assert.equal(noted.length, 1);
  assert.equal(await other.placed.report(token, report("no-answer")), true);
  assert.deepEqual(noted[1], "2: noAnswer", "nobody has it: it is written down where it was told");
});

test("a report about a call on its way to this process waits until it has arrived", async () => {
  type Process = ReturnType<ReturnType<typeof placing>["newProcess"]>;
  const byPerson = report("in-progress", "human");
  const ways: readonly ((to: Process, token: string) => unknown)[] = [
    ({ placed }, token) => placed.report(token, byPerson),
    ({ placed }) => placed.handlers.report({ claims: CLAIMS, report: byPerson }),
  ];
  for (const tell of ways) {
    const { noted, newProcess, tokens } = placing();
    let give: (handed: typeof HANDED) => void = () => undefined;
    const one = newProcess(1, { handOver: () => new Promise((resolve) => (give = resolve)) });
    const other = newProcess(2);
    await one.slots.acquire(ORG, "a", CALLS_MAX);
    const connected = other.placed.connect("a", ORG, () => Promise.resolve(SESSION));
    await settled();
    const told = tell(other, tokens.mint(CLAIMS));
    await settled();
    assert.deepEqual(noted, []);
    give(HANDED);
    assert.equal(await connected, SESSION);
    await told;
    assert.deepEqual(noted, ["2: human"]);
  }
});
