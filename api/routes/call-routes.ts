import type { CallReports } from "../../engine/calls/call-reports.js";
import type { OutboundCalls } from "../../engine/calls/outbound-calls.js";
import type { CallRecord } from "../../storage/records.js";
import type { Handlers } from "../http/api-endpoint.js";
import { timestamp } from "./timestamp.js";

export function callRoutes(
  reports: CallReports,
  outboundCalls: Pick<OutboundCalls, "place">,
): Handlers<
  "listCalls" | "placeCall" | "countCalls" | "getCall" | "getUsage" | "getUsageShares" | "getWaits"
> {
  return {
    placeCall: ({ tenant, body }) => outboundCalls.place(tenant, body),
    listCalls: async ({ tenant, query }) => {
      const { items, total } = await reports.list(tenant.organization.id, {
        ...query,
        attention: query.attention === "true",
      });
      return { items: items.map(callSummary), total, skip: query.skip, limit: query.limit };
    },
    countCalls: async ({ tenant, query }) => ({
      count: await reports.count(tenant.organization.id, query),
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
      return { ...shares, agents: [...shares.agents], apiKeys: [...shares.apiKeys] };
    },
    getWaits: async ({ tenant, query }) => [
      ...(await reports.dailyWaits(tenant.organization.id, query.days)),
    ],
  };
}

/** What is not known yet, such as the end of a call that goes on, is left out. */
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
    metadata: call.metadata,
    createdAt: timestamp(call.createdAtMs),
  };
}
