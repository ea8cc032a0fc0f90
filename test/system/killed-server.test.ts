import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import * as v from "valibot";
import { DATABASE_FILE } from "../../config.js";
import { type Sandbox, startSandbox } from "../../engine/sandbox/sandbox.js";
import { PHONE_API_WIRES } from "../../engine/sandbox/telephone/phone-api-wires.js";
import { phoneVendor } from "../../engine/telephony/phone-vendors.js";
import { SystemClock } from "../../engine/time/clock.js";
import { within } from "../../engine/time/deadline.js";
import { openDatabase } from "../../storage/database.js";
import type { CallRecord, OutboundSpeech } from "../../storage/records.js";
import { WAIT_MAX_MS } from "../doubles/changes.js";
import { eventually } from "./eventually.js";
import type { VendorCall } from "./phone-vendor-call.js";
import { VendorCaller } from "./phone-vendor-caller.js";
import { VENDOR_STREAMS } from "./phone-vendor-streams.js";
import { PLACED_STREAMS, PlacedVendorCall, signedPost } from "./placed-vendor-call.js";
import { PLACING_VENDORS, type PlacingVendorName, PlacingVendors } from "./placing-vendors.js";
import { ServerProcess } from "./server-process.js";
import { streamUrl, webhookUrl } from "./telephone-stand.js";
import { type Customer, environmentOf, newDataDir, TestServer } from "./test-server.js";

/**
 * One server has a call in every state at every vendor that places calls. It is killed and started again; then each vendor goes on as
 * it does with its document or its report, and each call has to have one end.
 */
const GREETING = "Hello there.";
// The server runs in real time, with dozens of calls at once: a gap in the audio costs a word or repeats one.
const INTERRUPTED = /interrupted/;
const BUSY = /busy/;
const GREETS = /there/;
const SCREENER_ASKS = "please state your name and the reason for calling";
const NOT_PUT_THROUGH = /could not put you through/;
const STORIES_AT_ONCE = 20;
const TRANSFER_TO = "+15550103333";
/** Long enough that it is still being said when the server is killed. */
const MESSAGE_SENTENCES = [
  "This is Acme, and this message is about the bicycle that you have brought to our workshop on Monday.",
  "It is repaired, and you can fetch it on every day of this week between nine in the morning and six in the evening.",
  "Please call us back if you would like us to bring it to you, which we do on Friday.",
];
const MESSAGE = MESSAGE_SENTENCES.join(" ");
const SCREENING_ANSWER = "This is Acme, about your order.";
const TO_MACHINES: OutboundSpeech = {
  voicemailMessage: MESSAGE,
  screeningAnswer: SCREENING_ANSWER,
  whileDetecting: "wait",
};
/** A machine of which the vendor says nothing before the test does. */
const QUIET_MACHINE = "+15550100015";
const detectsMachines = (vendor: PlacingVendorName) =>
  phoneVendor(vendor)?.capabilities.machineDetection !== "none";

/** One organization, with one call. */
interface Line {
  readonly vendor: PlacingVendorName;
  readonly customer: Customer;
  readonly agentId: string;
  readonly from: string;
}

/** What happens after the restart. */
type Afterwards = () => Promise<void>;

interface State {
  readonly title: string;
  readonly isPossible?: (vendor: PlacingVendorName) => boolean;
  /** It lasts for seconds only: those with the highest number begin right before the kill. */
  readonly late?: 1 | 2;
  /** What the agent has for machines and screeners. */
  readonly outbound?: OutboundSpeech;
  /** Brings a call into the state. */
  readonly begin: (line: Line) => Promise<Afterwards>;
  readonly check: (calls: readonly CallRecord[]) => void;
}

let sandbox: Sandbox;
let vendors: PlacingVendors;

async function place({ vendor, customer, agentId, from }: Line, to: string, detectMachine = false) {
  const response = await fetch(`${vendors.url}/api/dashboard/calls`, {
    method: "POST",
    headers: { "x-api-key": customer.apiKey, "content-type": "application/json" },
    body: JSON.stringify({ agentId, to, from, vendor, detectMachine }),
  });
  assert.equal(response.status, 201, await response.text());
  const call = await vendors.callFrom(vendor, from);
  return new PlacedVendorCall(vendor, call, streamUrl(vendors, vendor));
}

async function inbound({ vendor, customer }: Line) {
  const stream = VENDOR_STREAMS[PLACED_STREAMS[vendor]];
  assert.ok(stream);
  const url = webhookUrl(vendors, customer, { vendor, continue: "transfer" });
  return { caller: new VendorCaller(stream, streamUrl(vendors, vendor)), url };
}

/** The id that the webhook of each vendor with transfers over REST gives its calls here. */
const REST_CALL_IDS: Readonly<Partial<Record<PlacingVendorName, string>>> = {
  twilio: "CA1",
  vonage: "u1",
};
const transfersOverRest = (vendor: PlacingVendorName): boolean => vendor in REST_CALL_IDS;
let lastAdopted = 0;

/** As `inbound`, of a call that the vendor's REST API knows. */
async function adopted({ vendor, customer }: Line) {
  const stream = VENDOR_STREAMS[PLACED_STREAMS[vendor]];
  const usual = REST_CALL_IDS[vendor];
  assert.ok(stream !== undefined && usual !== undefined);
  lastAdopted += 1;
  const own = `${usual}x${lastAdopted}`;
  const caller = new VendorCaller(stream, streamUrl(vendors, vendor), { usual, own });
  const call = vendors.adopt(vendor, { id: own, from: `+${caller.from}`, to: "+15550002222" });
  const phone = await greeted(await caller.ring(webhookUrl(vendors, customer, { vendor })));
  const ordered = () =>
    eventually("the transfer over REST", () => call.transferredTo[0]).then((document) =>
      caller.orderedDial(document),
    );
  return { caller, call, phone, ordered };
}

async function asksForTransfer(phone: VendorCall): Promise<void> {
  phone.say("transfer me");
  assert.match(await phone.said(2), /transfer/);
  phone.play();
}

/** A call whose transfer was ordered over REST, and whose order the vendor never gets. */
async function withLostTransfer(line: Line) {
  const { caller, call, phone } = await adopted(line);
  call.transferFault = "orderLost";
  await asksForTransfer(phone);
  await eventually("the order", () => (call.lostOrders > 0 ? true : undefined));
  return { caller, phone };
}

async function greeted(phone: VendorCall): Promise<VendorCall> {
  assert.match(await phone.said(1), /there/);
  phone.play();
  return phone;
}

/** Resolves when the greeting of that organization's only call is stored: a kill loses a turn that is not. */
function greetingStored({ customer }: Line): Promise<true> {
  const read = async (path: string) => {
    const headers = { "x-api-key": customer.apiKey };
    return (await fetch(`${vendors.url}/api/dashboard/calls${path}`, { headers })).json();
  };
  return eventually("the stored greeting", async () => {
    const [call] = v.parse(CallIds, await read("")).items;
    if (call === undefined) return undefined;
    const { transcript } = v.parse(Transcript, await read(`/${call._id}`));
    return transcript.length > 0 ? true : undefined;
  });
}

const Answerers = v.object({
  items: v.array(
    v.object({ metadata: v.object({ answerer: v.optional(v.object({ kind: v.string() })) }) }),
  ),
});

/** Resolves when the newest of the given number of records has stored who has answered: a kill loses what is not stored. */
function answererStored({ customer }: Line, kind: RegExp, count = 1): Promise<true> {
  return eventually(`an answerer that is ${kind}`, async () => {
    const headers = { "x-api-key": customer.apiKey };
    const response = await fetch(`${vendors.url}/api/dashboard/calls`, { headers });
    // Too many questions in a minute are refused.
    const read = v.safeParse(Answerers, await response.json());
    const items = read.success ? read.output.items : [];
    const found = items[0]?.metadata.answerer?.kind ?? "";
    const isStored = items.length === count && kind.test(found);
    return isStored ? true : undefined;
  });
}

async function hearsMessage(phone: VendorCall | undefined): Promise<void> {
  assert.ok(phone, "the machine is not left in silence");
  const said = await phone.said(MESSAGE_SENTENCES.length);
  // At Vonage and Jambonz it begins again behind the beep.
  assert.match(said, /This is Acme.*on Friday\.$/);
  phone.play();
  assert.equal(await phone.closed, 1000);
}

async function transferred(phone: VendorCall): Promise<void> {
  await asksForTransfer(phone);
  assert.ok(await within(new SystemClock(), WAIT_MAX_MS, phone.closed), "the caller is handed on");
}

const CallIds = v.object({ items: v.array(v.object({ _id: v.string() })) });
const Transcript = v.object({ transcript: v.array(v.unknown()) });
const Calls = v.object({ items: v.array(v.object({ status: v.string() })) });

/** Resolves when the call of that organization has ended, as the server reports it. */
function ended({ customer }: Line): Promise<true> {
  return eventually("the end of the call", async () => {
    const headers = { "x-api-key": customer.apiKey };
    const response = await fetch(`${vendors.url}/api/dashboard/calls`, { headers });
    const { items } = v.parse(Calls, await response.json());
    return items.length > 0 && items.every(({ status }) => status !== "active") ? true : undefined;
  });
}

async function saysAndEnds(phone: VendorCall | undefined, words: RegExp): Promise<void> {
  assert.ok(phone, "the person is not left in silence");
  assert.match(await phone.said(1), words);
  phone.play();
  await phone.end();
}

const single = (calls: readonly CallRecord[]): CallRecord => {
  const [call, ...others] = calls;
  assert.ok(call);
  assert.deepEqual(others, []);
  return call;
};

function assertContinued(calls: readonly CallRecord[]): CallRecord {
  const [first, second, ...others] = calls;
  assert.deepEqual(others, []);
  assert.equal(first?.metadata["continuedBy"], second?.id);
  assert.equal(second?.metadata["continues"], first?.id);
  assert.deepEqual([second?.status, second?.metadata["endReason"]], ["completed", "callerLeft"]);
  assert.ok(first);
  return first;
}

function assertBroken(call: CallRecord): void {
  assert.equal(call.status, "failed");
  assert.match(String(call.metadata["endReason"]), /server stopped during the call/);
  assert.deepEqual(
    call.transcript.map(({ text }) => text),
    [GREETING],
  );
}

function assertMessageLeft(calls: readonly CallRecord[]): void {
  const [first, second, ...others] = calls;
  assert.deepEqual(others, []);
  assert.equal(first?.metadata["continuedBy"], second?.id);
  const { endReason, outcome, voicemail } = second?.metadata ?? {};
  assert.deepEqual([endReason, outcome], ["machine", "machine"]);
  assert.deepEqual(voicemail, { messageLeft: true, text: MESSAGE });
}

const STATES: readonly State[] = [
  {
    title: "a placed call that rings, and that nobody answers",
    begin: async (line) => {
      const person = await place(line, "+15550100005");
      return async () => {
        await person.call.repeat("noAnswer");
        await person.call.repeat("noAnswer");
      };
    },
    check: (calls) => {
      const { status, metadata } = single(calls);
      assert.equal(status, "failed");
      assert.equal(metadata["direction"], "outbound");
    },
  },
  {
    title: "a placed call that rings, and that a person answers after the restart",
    begin: async (line) => {
      const { call } = await place(line, "+15550100005");
      return async () => {
        const body = PHONE_API_WIRES[line.vendor].answered(call);
        const response = await signedPost(line.vendor, call.order.answerUrl, body);
        const document = await response.text();
        assert.equal(response.status, 200, document);
        assert.match(document, /over\. Goodbye/, "the person hears why nobody talks to them");
        await call.repeat("completed");
      };
    },
    check: (calls) => assert.equal(single(calls).status, "failed"),
  },
  {
    title: "a placed call in its conversation",
    begin: async (line) => {
      const person = await place(line, "+15550101000");
      const phone = await greeted(await person.pickUp());
      await greetingStored(line);
      return async () => {
        await phone.closed;
        await saysAndEnds(await person.goOn(), INTERRUPTED);
        await person.call.end();
        await person.call.repeat("completed");
      };
    },
    check: (calls) => assertBroken(assertContinued(calls)),
  },
  {
    title: "a placed call before the vendor's verdict on machines",
    isPossible: detectsMachines,
    late: 2,
    outbound: TO_MACHINES,
    begin: async (line) => {
      const person = await place(line, QUIET_MACHINE, true);
      const phone = await person.pickUp();
      // The agent takes six seconds of silence for a person.
      await answererStored(line, /pending/);
      return async () => {
        await phone.closed;
        const again = await person.goOn();
        assert.ok(again);
        await answererStored(line, /pending|person/, 2);
        await person.call.recognizeMachine();
        await person.call.endGreeting();
        await hearsMessage(again);
        await person.call.end();
      };
    },
    check: assertMessageLeft,
  },
  {
    title: "a placed call while its message is said to a machine",
    isPossible: detectsMachines,
    late: 1,
    outbound: TO_MACHINES,
    begin: async (line) => {
      const person = await place(line, QUIET_MACHINE, true);
      const phone = await person.pickUp();
      await answererStored(line, /pending/);
      await person.call.recognizeMachine();
      await person.call.endGreeting();
      await answererStored(line, /voicemail/);
      return async () => {
        await phone.closed;
        await hearsMessage(await person.goOn());
        await person.call.end();
      };
    },
    check: assertMessageLeft,
  },
  {
    title: "a placed call that a screener has answered",
    isPossible: detectsMachines,
    outbound: TO_MACHINES,
    begin: async (line) => {
      const person = await place(line, QUIET_MACHINE, true);
      const phone = await person.pickUp();
      // The agent takes six seconds of silence for a person.
      phone.say(SCREENER_ASKS);
      assert.equal(await phone.said(1), SCREENING_ANSWER);
      phone.play();
      await answererStored(line, /screener/);
      return async () => {
        await phone.closed;
        const again = await person.goOn();
        assert.ok(again);
        await answererStored(line, /screener/, 2);
        again.say("hello this is ada");
        await saysAndEnds(again, GREETS);
        await person.call.end();
      };
    },
    check: (calls) => {
      const { metadata } = assertContinued(calls);
      assert.deepEqual(Object(metadata["answerer"]).kind, "screener");
    },
  },
  {
    title: "a placed call whose transfer rings at a busy number",
    begin: async (line) => {
      const person = await place(line, "+15550101000");
      await transferred(await greeted(await person.pickUp()));
      const dial = await person.handedOn();
      // The order over REST goes before the record, which a kill in the same millisecond would lose.
      await ended(line);
      return async () => {
        await saysAndEnds(await person.dialed(dial, "busy"), BUSY);
        await person.call.end();
      };
    },
    check: (calls) => {
      const { metadata } = assertContinued(calls);
      assert.equal(metadata["endReason"], "transferFailed");
      const { result, to } = Object(metadata["transfer"]);
      assert.deepEqual([result, to], ["busy", TRANSFER_TO]);
    },
  },
  {
    title: "a placed call that has ended, and whose end is not reported yet",
    begin: async (line) => {
      const person = await place(line, "+15550101000");
      await (await greeted(await person.pickUp())).end();
      await ended(line);
      return async () => {
        await person.call.end();
        await person.call.repeat("completed");
        await person.call.repeat("busy");
      };
    },
    check: (calls) => {
      const { status, metadata } = single(calls);
      assert.deepEqual([status, metadata["endReason"]], ["completed", "callerLeft"]);
    },
  },
  {
    title: "an inbound call whose stream is not open yet",
    begin: async (line) => {
      const { caller, url } = await inbound(line);
      await caller.announce(url);
      return async () => {
        const phone = await caller.goOn();
        assert.ok(phone, "the caller is not left in silence");
        await (await greeted(phone)).end();
      };
    },
    check: (calls) => {
      const { status, metadata } = single(calls);
      assert.deepEqual([status, metadata["endReason"]], ["completed", "callerLeft"]);
    },
  },
  {
    title: "an inbound call in its conversation",
    begin: async (line) => {
      const { caller, url } = await inbound(line);
      const phone = await greeted(await caller.ring(url));
      await greetingStored(line);
      return async () => {
        await phone.closed;
        await saysAndEnds(await caller.goOn(), INTERRUPTED);
      };
    },
    check: (calls) => assertBroken(assertContinued(calls)),
  },
  {
    title: "an inbound call whose transfer rings, and is answered",
    isPossible: (vendor) => phoneVendor(vendor)?.capabilities.transfer === "document",
    begin: async (line) => {
      const { caller, url } = await inbound(line);
      await transferred(await greeted(await caller.ring(url)));
      const dial = await caller.handedOn();
      return async () => {
        assert.equal(await caller.dialed(dial, "answered"), undefined);
        assert.equal(await caller.dialed(dial, "busy"), undefined, "the first outcome counts");
      };
    },
    check: (calls) => {
      const { status, metadata } = single(calls);
      assert.deepEqual([status, metadata["endReason"]], ["completed", "transferred"]);
      assert.equal(Object(metadata["transfer"]).result, "answered");
    },
  },
  {
    title: "an inbound call whose transfer over REST rings, and is answered",
    isPossible: transfersOverRest,
    begin: async (line) => {
      const { caller, phone, ordered } = await adopted(line);
      await transferred(phone);
      const dial = await ordered();
      await ended(line);
      return async () => {
        assert.equal(await caller.dialed(dial, "answered"), undefined);
        assert.equal(await caller.dialed(dial, "busy"), undefined, "the first outcome counts");
      };
    },
    check: (calls) => {
      const { status, metadata } = single(calls);
      assert.deepEqual([status, metadata["endReason"]], ["completed", "transferred"]);
      assert.equal(Object(metadata["transfer"]).result, "answered");
    },
  },
  {
    title: "an inbound call whose transfer over REST rings at a busy number",
    isPossible: transfersOverRest,
    begin: async (line) => {
      const { caller, phone, ordered } = await adopted(line);
      await transferred(phone);
      const dial = await ordered();
      await ended(line);
      return async () => saysAndEnds(await caller.dialed(dial, "busy"), BUSY);
    },
    check: (calls) => {
      const { metadata } = assertContinued(calls);
      assert.equal(metadata["endReason"], "transferFailed");
      const { result, to } = Object(metadata["transfer"]);
      assert.deepEqual([result, to], ["busy", TRANSFER_TO]);
    },
  },
  {
    title: "an inbound call whose transfer over REST the vendor has made and not answered",
    isPossible: transfersOverRest,
    late: 1,
    begin: async (line) => {
      const { caller, call, phone, ordered } = await adopted(line);
      call.transferFault = "answerLost";
      await asksForTransfer(phone);
      const dial = await ordered();
      return async () => {
        await phone.closed;
        await saysAndEnds(await caller.dialed(dial, "busy"), BUSY);
      };
    },
    check: (calls) => {
      const { status, metadata } = assertContinued(calls);
      assert.equal(status, "failed");
      const { result, to } = Object(metadata["transfer"]);
      assert.deepEqual([result, to], ["busy", TRANSFER_TO]);
    },
  },
  {
    title: "an inbound call whose transfer over REST never reached the vendor",
    isPossible: transfersOverRest,
    late: 1,
    begin: async (line) => {
      const { caller, phone } = await withLostTransfer(line);
      return async () => {
        await phone.closed;
        await saysAndEnds(await caller.goOn(), NOT_PUT_THROUGH);
      };
    },
    check: (calls) => {
      const { status, metadata } = assertContinued(calls);
      assert.equal(status, "failed");
      const { result, reason, to } = Object(metadata["transfer"]);
      assert.deepEqual([result, to], ["failed", TRANSFER_TO]);
      assert.match(reason, /reported no outcome/);
    },
  },
  {
    title:
      "an inbound call whose transfer over REST never reached the vendor, and whose caller hangs up",
    isPossible: transfersOverRest,
    late: 1,
    begin: async (line) => {
      const { caller, phone } = await withLostTransfer(line);
      return async () => {
        await phone.closed;
        assert.equal(await caller.goOn("callerGone"), undefined);
      };
    },
    check: (calls) => {
      const { status, metadata } = single(calls);
      assert.equal(status, "failed");
      const { result, to } = Object(metadata["transfer"]);
      assert.deepEqual([result, to], ["unknown", TRANSFER_TO]);
    },
  },
  {
    title: "a placed call whose transfer over REST the vendor has made and not answered",
    isPossible: transfersOverRest,
    late: 1,
    begin: async (line) => {
      const person = await place(line, "+15550101000");
      const phone = await greeted(await person.pickUp());
      person.call.transferFault = "answerLost";
      await asksForTransfer(phone);
      const dial = await person.handedOn();
      return async () => {
        await phone.closed;
        await saysAndEnds(await person.dialed(dial, "busy"), BUSY);
        await person.call.end();
      };
    },
    check: (calls) => {
      const { status, metadata } = assertContinued(calls);
      assert.equal(status, "failed");
      const { result, to } = Object(metadata["transfer"]);
      assert.deepEqual([result, to], ["busy", TRANSFER_TO]);
    },
  },
  {
    title: "an inbound call that has ended, and about which the vendor has not asked yet",
    begin: async (line) => {
      const { caller, url } = await inbound(line);
      const phone = await greeted(await caller.ring(url));
      await phone.end();
      await ended(line);
      return async () => assert.equal(await caller.goOn("callerGone"), undefined);
    },
    check: (calls) => {
      const { status, metadata } = single(calls);
      assert.deepEqual([status, metadata["endReason"]], ["completed", "callerLeft"]);
    },
  },
];

interface Story {
  readonly line: Line;
  readonly state: State;
  outcome: Promise<unknown>;
  calls: readonly CallRecord[];
}

const stories = new Map<string, Story>();
const nameOf = (vendor: string, { title }: State) => `${vendor}: ${title}`;

function possible(): readonly (readonly [PlacingVendorName, State])[] {
  return PLACING_VENDORS.flatMap((vendor) =>
    STATES.filter(({ isPossible }) => isPossible?.(vendor) ?? true).map(
      (state) => [vendor, state] as const,
    ),
  );
}

/** An organization with an agent for each call; the server that makes them is stopped again. */
async function newLines(dataDir: string): Promise<void> {
  const { environment } = vendors;
  const server = await TestServer.start({ sandbox, dataDir, environment });
  let number = 15_550_700_000;
  for (const [vendor, state] of possible()) {
    const customer = await server.customer();
    number += 1;
    const from = `+${number}`;
    await server.tenancy.phoneNumbers.allow(customer.email, from);
    await server.tenancy.dialTargets.allow(customer.email, "+1555");
    const { id: agentId } = await server.agent(customer, {
      persona: { greeting: GREETING, ...(state.outbound && { outbound: state.outbound }) },
      tools: [{ type: "transfer", to: TRANSFER_TO }],
    });
    const line = { vendor, customer, agentId, from };
    stories.set(nameOf(vendor, state), { line, state, outcome: Promise.resolve(), calls: [] });
  }
  await server.stop();
}

/** All of them at once would be more than a busy machine can serve in real time. */
async function inGroups(
  act: (story: Story) => Promise<unknown>,
  all = [...stories.values()],
): Promise<void> {
  for (let at = 0; at < all.length; at += STORIES_AT_ONCE) {
    await Promise.allSettled(all.slice(at, at + STORIES_AT_ONCE).map(act));
  }
}

async function readCalls(dataDir: string): Promise<void> {
  const database = await openDatabase({ filePath: join(dataDir, DATABASE_FILE) });
  for (const story of stories.values()) {
    const orgId = story.line.customer.tenant.organization.id;
    const { items } = await database.calls.list(orgId, { skip: 0, limit: 10 });
    const found = await Promise.all(items.map(({ id }) => database.calls.findById(orgId, id)));
    story.calls = found.flatMap((call) => (call === undefined ? [] : [call])).reverse();
  }
  await database.close();
}

before(async () => {
  sandbox = await startSandbox();
  vendors = await PlacingVendors.start();
  const dataDir = await newDataDir();
  after(() => rm(dataDir, { recursive: true }));
  await newLines(dataDir);
  // In production only the log would name the address.
  const development = { NODE_ENV: "development", SANDBOX: "off", DRAIN_TIMEOUT_SEC: "5" };
  const settings = { ...environmentOf(sandbox, dataDir), ...vendors.environment };
  const environment = { ...settings, ...development };
  const killed = await ServerProcess.start(environment);
  await vendors.leadTo(Number(new URL(killed.url).port));
  const begun = new Map<Story, Promise<Afterwards>>();
  const begin = (story: Story) => {
    const beginning = story.state.begin(story.line);
    begun.set(story, beginning);
    return beginning;
  };
  for (const late of [undefined, 1, 2]) {
    await inGroups(
      begin,
      [...stories.values()].filter(({ state }) => state.late === late),
    );
  }
  killed.signal("SIGKILL");
  await killed.exited();
  const next = await ServerProcess.start(environment);
  await vendors.leadTo(Number(new URL(next.url).port));
  await inGroups((story) => {
    story.outcome = Promise.resolve(begun.get(story)).then((afterwards) => afterwards?.());
    return story.outcome;
  });
  next.signal("SIGTERM");
  assert.equal(await next.exited(), 0);
  await readCalls(dataDir);
});
after(async () => {
  vendors.close();
  await sandbox.close();
});

describe("a server that is killed and started again", () => {
  for (const [vendor, state] of possible()) {
    test(nameOf(vendor, state), async () => {
      const story = stories.get(nameOf(vendor, state));
      assert.ok(story);
      await story.outcome;
      const { calls, line } = story;
      state.check(calls);
      for (const { status, endedAtMs } of calls) {
        assert.ok(status !== "active" && endedAtMs !== null);
      }
      const placedCount = /placed/.test(state.title) ? 1 : 0;
      assert.equal(
        vendors.callsFrom(vendor, line.from).length,
        placedCount,
        "nobody is called twice",
      );
    });
  }
});
