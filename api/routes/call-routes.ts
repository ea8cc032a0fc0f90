import type { CallAudio, CallEvent } from "../../engine/calls/call-events.js";
import type { CallListening } from "../../engine/calls/call-listening.js";
import type { CallReports } from "../../engine/calls/call-reports.js";
import type { CallSupervision, CallWatch } from "../../engine/calls/call-supervision.js";
import type { IdempotentRequests } from "../../engine/calls/idempotent-requests.js";
import type { OutboundCalls } from "../../engine/calls/outbound/outbound-calls.js";
import type { SandboxPeople } from "../../engine/calls/outbound/sandbox-people.js";
import type { Recordings } from "../../engine/calls/recording/recordings.js";
import type { UsageShare } from "../../engine/calls/usage-shares.js";
import type { VendorFaults } from "../../engine/calls/vendor-shares.js";
import type { ControlCommand } from "../../engine/conversation/control-command.js";
import type { DoNotCall } from "../../engine/tenancy/agents/do-not-call.js";
import type { PhoneNumbers } from "../../engine/tenancy/agents/phone-numbers.js";
import type { Tenant } from "../../engine/tenancy/tenant.js";
import type { CallAnalysis, CallRecord, PhoneNumberRecord } from "../../storage/records.js";
import type { CALL_EVENTS } from "../contract/call-events.js";
import { EventBatch, type EventStream, type NamedEvent } from "../contract/event-stream.js";
import { LISTEN_PATH } from "../contract/listen-protocol.js";
import { type Handlers, repeatedAnswer } from "../http/endpoints/api-endpoint.js";
import { timestamp } from "./timestamp.js";

type CallEvents = typeof CALL_EVENTS;

/** Streams of call events. A batch for several watchers is serialized once. */
export class CallEventStreams {
  readonly #batches = new WeakMap<readonly CallEvent[], EventBatch<CallEvents>>();

  of({ run }: CallWatch): EventStream<CallEvents> {
    return {
      produce: (send, signal) => {
        const watcher = {
          news: (news: readonly CallEvent[]) => send.batch(this.#batchOf(news)),
          pulse: () => send.event("pulse", {}),
        };
        send.event("watching", {});
        return run(watcher, signal);
      },
    };
  }

  #batchOf(news: readonly CallEvent[]): EventBatch<CallEvents> {
    const known = this.#batches.get(news);
    if (known !== undefined) return known;
    const batch = new EventBatch<CallEvents>(news.filter(isShown).map(eventOf));
    this.#batches.set(news, batch);
    return batch;
  }
}

/** Sends audio to listeners by WebSocket. */
function isShown(news: CallEvent): news is Exclude<CallEvent, CallAudio> {
  return news.type !== "audio";
}

function eventOf(news: Exclude<CallEvent, CallAudio>): NamedEvent<CallEvents> {
  switch (news.type) {
    case "began": {
      const { callId, agentId, channel, startedAtMs } = news;
      const startedAt = timestamp(startedAtMs);
      return { name: "began", data: { callId, agentId, channel, startedAt } };
    }
    case "present":
      return {
        name: "present",
        data: { callId: news.callId, words: [...news.words], isMuted: news.isMuted },
      };
    case "muted":
      return { name: "muted", data: { callId: news.callId, isMuted: news.isMuted } };
    case "words": {
      const { callId, role, text, isFinal } = news;
      return { name: "words", data: { callId, role, text, isFinal } };
    }
    case "bargeIn": {
      const { callId, turn, action, reason, atMs } = news;
      return { name: "bargeIn", data: { callId, turn, action, reason, atMs } };
    }
    case "endOfTurn": {
      const { type: name, callId, turn, reason, waitedMs, ...more } = news;
      return { name, data: { callId, turn, reason, waitedMs, ...more } };
    }
    case "turn":
      return { name: "turn", data: { callId: news.callId, metrics: news.metrics } };
    case "ended": {
      const { callId, status, endReason } = news;
      return { name: "ended", data: { callId, status, endReason } };
    }
  }
}

/** Lets users watch calls in progress, and end them. */
export function supervisionRoutes(
  supervision: Pick<CallSupervision, "watchAll" | "watchOne" | "end" | "transfer" | "control">,
  listening: Pick<CallListening, "admit">,
): Handlers<
  | "watchCalls"
  | "watchCall"
  | "endCall"
  | "transferCall"
  | "sayInCall"
  | "addCallContext"
  | "sendDtmf"
  | "muteAgent"
  | "unmuteAgent"
  | "listenToCall"
> {
  const control = async (tenant: Tenant, id: string, command: ControlCommand) => {
    await supervision.control(tenant, id, command);
    return { success: true } as const;
  };
  const streams = new CallEventStreams();
  return {
    watchCalls: ({ tenant }) => streams.of(supervision.watchAll(tenant)),
    watchCall: async ({ tenant, id }) => streams.of(await supervision.watchOne(tenant, id)),
    endCall: async ({ tenant, id }) => {
      await supervision.end(tenant, id);
      return { success: true };
    },
    sayInCall: ({ tenant, id, body }) =>
      control(tenant, id, { type: "say", text: body.text, interrupt: body.interrupt }),
    addCallContext: ({ tenant, id, body }) =>
      control(tenant, id, { type: "addContext", text: body.text }),
    listenToCall: async ({ tenant, id }) => {
      const { token, expiresAtMs } = await listening.admit(tenant, id);
      return {
        path: `${LISTEN_PATH}?token=${encodeURIComponent(token)}`,
        expiresAt: timestamp(expiresAtMs),
      };
    },
    sendDtmf: ({ tenant, id, body }) =>
      control(tenant, id, { type: "sendDigits", digits: body.digits }),
    muteAgent: ({ tenant, id }) => control(tenant, id, { type: "mute" }),
    unmuteAgent: ({ tenant, id }) => control(tenant, id, { type: "unmute" }),
    transferCall: async ({ tenant, id, body }) => {
      await supervision.transfer(tenant, id, body);
      return { success: true };
    },
  };
}

export function recordingRoutes(
  recordings: Pick<Recordings, "open">,
): Handlers<"getCallRecording"> {
  return {
    getCallRecording: ({ tenant, id }) =>
      recordings.open({ orgId: tenant.organization.id, callId: id }),
  };
}

export function callRoutes(
  reports: CallReports,
  outboundCalls: Pick<OutboundCalls, "place" | "numbers">,
  phoneNumbers: Pick<PhoneNumbers, "recordsOf" | "assign" | "release">,
  doNotCall: DoNotCall,
  sandboxPeople: SandboxPeople,
  idempotentRequests: Pick<IdempotentRequests, "run">,
): Handlers<
  | "getOutboundNumbers"
  | "updatePhoneNumber"
  | "releasePhoneNumber"
  | "listDoNotCall"
  | "addDoNotCall"
  | "removeDoNotCall"
  | "listCalls"
  | "placeCall"
  | "sayAsPerson"
  | "countCalls"
  | "getCall"
  | "getUsage"
  | "getUsageShares"
  | "getVendorShares"
  | "getWaits"
> {
  return {
    getOutboundNumbers: async ({ tenant }) => {
      const [{ isConfigured, isSimulated, ...allowed }, inbound] = await Promise.all([
        outboundCalls.numbers(tenant),
        phoneNumbers.recordsOf(tenant.organization.id),
      ]);
      return {
        configured: isConfigured,
        simulated: isSimulated,
        numbers: [...allowed.numbers],
        targets: [...allowed.targets],
        inbound: inbound.map(inboundNumber),
      };
    },
    updatePhoneNumber: async ({ tenant, user, id, body }) => {
      const isAdmin = user?.role === "admin";
      return inboundNumber(await phoneNumbers.assign(tenant, id, body, isAdmin));
    },
    releasePhoneNumber: async ({ tenant, id }) => {
      await phoneNumbers.release(tenant, id);
      return { success: true };
    },
    listDoNotCall: async ({ tenant, query }) => {
      const { numbers, next } = await doNotCall.list(tenant, query.after, query.limit);
      return {
        numbers: numbers.map(({ number, note, createdAtMs }) => ({
          number,
          note,
          createdAt: timestamp(createdAtMs),
        })),
        next: next ?? null,
      };
    },
    addDoNotCall: async ({ tenant, body }) => ({
      total: await doNotCall.add(tenant, body.numbers, body.note),
    }),
    removeDoNotCall: async ({ tenant, id }) => {
      await doNotCall.remove(tenant, id);
      return { success: true };
    },
    placeCall: async ({ tenant, idempotency, body: { person, ...order } }) => {
      const { isRepeated, answer } = await idempotentRequests.run(
        tenant.organization.id,
        idempotency,
        async (key) => {
          if (person === "typed") await sandboxPeople.expectTyping(order.to);
          return outboundCalls.place(tenant, order, undefined, key);
        },
      );
      if (isRepeated) return repeatedAnswer(201, answer);
      const { id, agentId, status } = answer;
      return { id, agentId, status };
    },
    sayAsPerson: async ({ tenant, id, body }) => {
      await sandboxPeople.say(tenant, id, body.text);
      return { success: true };
    },
    listCalls: async ({ tenant, query }) => {
      const { items, total } = await reports.list(tenant.organization.id, callFilterOf(query));
      return { items: items.map(callSummary), total, skip: query.skip, limit: query.limit };
    },
    countCalls: async ({ tenant, query }) => ({
      count: await reports.count(tenant.organization.id, callFilterOf(query)),
    }),
    getCall: async ({ tenant, id }) => {
      const call = await reports.get(tenant.organization.id, id);
      return { ...callSummary(call), transcript: [...call.transcript] };
    },
    getUsage: async ({ tenant, query }) => [
      ...(await reports.dailyUsage(tenant.organization.id, query.days)),
    ],
    getUsageShares: async ({ tenant, query }) => {
      const shares = await reports.usageShares(tenant.organization.id, query.days);
      return {
        ...shares,
        agents: shares.agents.map(usageShare),
        apiKeys: shares.apiKeys.map(usageShare),
      };
    },
    getVendorShares: async ({ tenant, query }) => {
      const shares = await reports.vendorShares(tenant.organization.id, query.days);
      return shares.map((share) => ({
        ...share,
        faults: share.faults.map(vendorFaults),
        models: [...share.models],
      }));
    },
    getWaits: async ({ tenant, query }) => [
      ...(await reports.dailyWaits(tenant.organization.id, query.days)),
    ],
  };
}

interface CallQueryTimes {
  readonly startedAfter?: string | undefined;
  readonly startedBefore?: string | undefined;
  readonly attention?: "true" | "false" | undefined;
  readonly analysisSuccess?: "true" | "false" | undefined;
  readonly analysisField?: string | undefined;
}

/** The query of a list of calls or of its count, in the form that the reports use. */
function callFilterOf<Query extends CallQueryTimes>({
  startedAfter,
  startedBefore,
  ...query
}: Query) {
  const { attention, analysisSuccess, analysisField } = query;
  return {
    ...query,
    attention: attention === "true",
    startedFromMs: startedAfter === undefined ? undefined : Date.parse(startedAfter),
    startedBeforeMs: startedBefore === undefined ? undefined : Date.parse(startedBefore),
    analysisSuccess: analysisSuccess === undefined ? undefined : analysisSuccess === "true",
    analysisField: analysisField === undefined ? undefined : fieldOf(analysisField),
  };
}

/** For example `topic:refund`. */
function fieldOf(text: string): { readonly name: string; readonly value: string } {
  const colon = text.indexOf(":");
  return { name: text.slice(0, colon), value: text.slice(colon + 1) };
}

function analysisView({ analyzedAtMs, ...analysis }: CallAnalysis) {
  return { ...analysis, analyzedAt: timestamp(analyzedAtMs) };
}

function usageShare<Id extends string | null>(share: UsageShare<Id>) {
  return { ...share, failures: [...share.failures] };
}

function vendorFaults({ lastCallAtMs, ...faults }: VendorFaults) {
  return { ...faults, lastCallAt: timestamp(lastCallAtMs) };
}

/** Fields that are not known yet, such as the end of a call in progress, are omitted. */
function callSummary(call: CallRecord) {
  return {
    _id: call.id,
    orgId: call.orgId,
    agentId: call.agentId,
    sessionId: call.sessionId,
    channel: call.channel,
    status: call.status,
    startedAt: timestamp(call.startedAtMs),
    ...(call.endedAtMs === null ? {} : { endedAt: timestamp(call.endedAtMs) }),
    ...(call.durationSec === null ? {} : { durationSec: call.durationSec }),
    metrics: call.metrics,
    ...(call.summary === null ? {} : { summary: call.summary }),
    ...(call.sentiment === null ? {} : { sentiment: call.sentiment }),
    ...(call.analysis === null ? {} : { analysis: analysisView(call.analysis) }),
    metadata: call.metadata,
    createdAt: timestamp(call.createdAtMs),
  };
}

export function inboundNumber({
  number,
  vendor,
  agentId,
  accountId,
  importedAtMs,
}: PhoneNumberRecord) {
  return { number, vendor, agentId, accountId, isImported: importedAtMs !== null };
}
