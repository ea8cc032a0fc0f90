import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import type { ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import type { TestContext } from "node:test";
import { CallSlots } from "../../../engine/calls/admission.js";
import { LiveCalls } from "../../../engine/calls/live-calls.js";
import { OutboundCalls, type OutboundDeps } from "../../../engine/calls/outbound/outbound-calls.js";
import { OutboundTelephony } from "../../../engine/calls/outbound/outbound-telephony.js";
import type { Ending } from "../../../engine/conversation/call-end.js";
import { OutboundTokens } from "../../../engine/security/outbound-token.js";
import { TwilioCalls } from "../../../engine/telephony/twilio/twilio-calls.js";
import { ALL_SCOPES, type Tenant } from "../../../engine/tenancy/tenant.js";
import { SystemClock } from "../../../engine/time/clock.js";
import { Connections } from "../../../engine/vendors/transport/connections.js";
import { Changes } from "../../doubles/changes.js";
import { httpService } from "../../doubles/http-service.js";
import { installationApis, NO_OWN_NUMBERS } from "../../doubles/installation-apis.js";
import { organizationRecord, planRecord } from "../../storage/sample-records.js";
import { temporaryJournal } from "./temporary-journal.js";

export const CALLS_MAX = 2;
export const ORDER = {
  agentId: "agent",
  to: "+15550101000",
  from: "+15550109999",
  detectMachine: true,
};
const PLAN = planRecord();
export const TENANT: Tenant = {
  organization: organizationRecord({ status: "active" }),
  plan: { ...PLAN, limits: { ...PLAN.limits, maxConcurrentCalls: CALLS_MAX } },
  userId: undefined,
  apiKeyId: "key",
  scopes: ALL_SCOPES,
};

interface Asked {
  readonly path: string;
  readonly form: URLSearchParams;
}

/** The telephony vendor on a socket: takes every call, unless a test has it answer otherwise. */
class Vendor {
  readonly asked: Asked[] = [];
  answer = (response: ServerResponse): void => this.take(response);
  #callCount = 0;
  readonly #events = new EventEmitter();

  take(response: ServerResponse): void {
    this.#callCount += 1;
    const sid = `CA${String(this.#callCount).padStart(32, "0")}`;
    response.writeHead(201).end(JSON.stringify({ sid }));
  }

  refuse(status: number, body: object): void {
    this.answer = (response) => void response.writeHead(status).end(JSON.stringify(body));
  }

  start(context: TestContext): Promise<string> {
    return httpService(context, (request, response) => {
      void text(request).then((body) => {
        this.asked.push({ path: request.url ?? "", form: new URLSearchParams(body) });
        this.answer(response);
        this.#events.emit("request");
      });
    });
  }

  /** The last request, once this many have arrived. */
  async request(count: number): Promise<Asked> {
    while (this.asked.length < count) await once(this.#events, "request");
    const last = this.asked[count - 1];
    assert.ok(last);
    return last;
  }
}

/** A call that ends as soon as it is asked to. */
export class TalkingCall {
  readonly endings: Ending[] = [];
  readonly callId: string;

  constructor(callId: string) {
    this.callId = callId;
  }

  end(ending: Ending): void {
    this.endings.push(ending);
  }
}

/** Placed calls of an organization that may place any; ids are `id-1` and so on. */
export function outboundCalls(
  surroundings: Pick<OutboundDeps, "telephony" | "journal" | "clock" | "log"> &
    Partial<OutboundDeps>,
) {
  const slots = new CallSlots();
  const liveCalls = new LiveCalls();
  let idCount = 0;
  const outbound = new OutboundCalls({
    tokens: new OutboundTokens({ secret: "s".repeat(32), clock: surroundings.clock }),
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
    liveCalls,
    newId: () => `id-${++idCount}`,
    ...surroundings,
  });
  return { outbound, slots, liveCalls };
}

/** Placed calls with a real vendor's client, journal and tokens; no order is refused unless a test says so. */
export async function outboundFor(context: TestContext, changes: Partial<OutboundDeps> = {}) {
  const { database, clock, log, journal } = await temporaryJournal(context);
  const vendor = new Vendor();
  const connections = new Connections({ clock: new SystemClock(), allowPrivateAddresses: true });
  context.after(() => connections.close());
  const account = {
    vendor: "twilio",
    accountSid: "AC1",
    authToken: "secret",
    baseUrl: await vendor.start(context),
  } as const;
  const twilio = new TwilioCalls(account, { clock: new SystemClock(), connections });
  const telephony = new OutboundTelephony({
    apis: installationApis({ twilio }),
    ...NO_OWN_NUMBERS,
    baseUrl: () => "https://voice.example.com/",
  });
  const placing = outboundCalls({ telephony, journal, clock, log, ...changes });
  const { outbound, slots, liveCalls } = placing;
  const place = () => outbound.place(TENANT, ORDER);
  /** The token of the call that was placed last, as the vendor was given it. */
  const lastToken = () => {
    const url = vendor.asked.findLast(({ form }) => form.has("Url"))?.form.get("Url") ?? "";
    return new URL(url).searchParams.get("token") ?? "";
  };
  const say = (status: string, answeredBy = "") =>
    outbound.report(lastToken(), { status, answeredBy });
  const stored = async (callId: string) => {
    await journal.stored();
    return database.calls.findById("org", callId);
  };
  const writes = new Changes();
  const finish = database.calls.finish.bind(database.calls);
  database.calls.finish = (...input) => finish(...input).finally(writes.tell);
  /** How its record says that a call has ended, once it does. */
  const endOf = (callId: string) =>
    writes.until("the end of the call", async () => {
      const call = await database.calls.findById("org", callId);
      const { endReason, endMessage } = call?.metadata ?? {};
      return call?.endedAtMs == null ? undefined : [call.status, endReason, endMessage];
    });
  const left = () => [slots.count, liveCalls.count, outbound.ringingCount, clock.pendingTimerCount];
  return {
    database,
    journal,
    clock,
    log,
    vendor,
    slots,
    liveCalls,
    outbound,
    place,
    lastToken,
    say,
    stored,
    endOf,
    left,
  };
}

/** A vendor that reports a call before it has answered the order. */
export async function slowOrder(context: TestContext) {
  const parts = await outboundFor(context);
  const { vendor, place } = parts;
  const orders: ServerResponse[] = [];
  vendor.answer = (response) => void orders.push(response);
  const placing = place();
  await vendor.request(1);
  const accept = () => {
    vendor.answer = (response) => vendor.take(response);
    for (const order of orders) vendor.take(order);
    return placing;
  };
  return { ...parts, accept };
}

/** The value of `left` when every slot, call and timer was freed. */
export const NOTHING_LEFT: readonly number[] = [0, 0, 0, 0];
