import * as v from "valibot";
import { ApiKey, ApiKeyBody, CreatedApiKey } from "../api-key.js";
import { AuditEntries, AuditQuery } from "../audit.js";
import {
  Call,
  CallContextBody,
  CallCount,
  CallCountQuery,
  Calls,
  CallsQuery,
  DailyUsage,
  DailyWaits,
  DtmfBody,
  InboundNumber,
  ListenAddress,
  OutboundNumbers,
  PersonWordsBody,
  PlaceCallBody,
  QueuedCall,
  SayBody,
  TransferCallBody,
  UpdatePhoneNumberBody,
  UsageQuery,
  WaitsQuery,
} from "../call.js";
import { CALL_EVENTS } from "../call-events.js";
import { ClientTokenBody, IssuedClientToken } from "../client-token.js";
import { DoNotCallBody, DoNotCallNumbers, DoNotCallQuery, DoNotCallTotal } from "../do-not-call.js";
import { Count, Id, Success, Timestamp } from "../fields.js";
import { Member, MemberBody, MemberRoleBody } from "../member.js";
import {
  FoundModels,
  ModelSearchQuery,
  Organization,
  OrganizationBody,
  Stats,
} from "../organization.js";
import { OwnPlan } from "../plan.js";
import type { Route } from "./route.js";
import { created, downloaded, ok, refused, streamed } from "./route-answer.js";

const shareFields = {
  calls: Count,
  failed: Count,
  failures: v.pipe(
    v.array(
      v.object({
        endReason: v.pipe(v.string(), v.description("as in the call's metadata")),
        calls: Count,
      }),
    ),
    v.description("why those failed, the most frequent reason first"),
  ),
  minutes: v.number(),
  llmTokens: v.number(),
  ttsChars: v.number(),
};

export const UsageShares = v.object({
  calls: v.pipe(Count, v.description("how many calls were counted")),
  isWhole: v.pipe(
    v.boolean(),
    v.description("false where there were more than the latest 5,000, which alone are counted"),
  ),
  agents: v.array(v.object({ id: Id, ...shareFields })),
  apiKeys: v.array(
    v.object({
      id: v.pipe(
        v.nullable(Id),
        v.description(
          "null: calls without a key, such as by client token or placed in the console",
        ),
      ),
      channel: v.optional(
        v.pipe(
          v.picklist(["web", "phone"]),
          v.description("where `id` is null: how those calls came; each has a share of its own"),
        ),
      ),
      ...shareFields,
    }),
  ),
});

export const VendorShare = v.object({
  category: v.picklist(["llm", "tts", "stt"]),
  vendor: v.pipe(v.string(), v.examples(["openai"])),
  answered: v.pipe(Count, v.description("turns in which it answered")),
  failed: v.pipe(Count, v.description("turns in which it was asked first and failed")),
  lastFault: v.pipe(v.nullable(v.string()), v.description("its latest failure, such as timeout")),
  wastedMs: v.pipe(Count, v.description("the total time that its failures cost")),
  faults: v.pipe(
    v.array(
      v.object({
        fault: v.pipe(v.string(), v.examples(["timeout"])),
        model: v.pipe(v.nullable(v.string()), v.description("null where the record has none")),
        turns: Count,
        lastCallId: v.pipe(Id, v.description("the newest call that has such a turn")),
        lastCallAt: v.pipe(Timestamp, v.description("when that call began")),
      }),
    ),
    v.description("what went wrong in the turns in which it failed, the most frequent first"),
  ),
  models: v.pipe(
    v.array(
      v.object({
        model: v.pipe(v.string(), v.examples(["gpt-6-luna"])),
        turns: v.pipe(Count, v.description("turns that were measured")),
        p50Ms: v.pipe(
          Count,
          v.description(
            "median of the first token of an LLM, of the first byte of a TTS, of the final words of an STT",
          ),
        ),
      }),
    ),
    v.description("how quick its models were in turns without a failover, the most used first"),
  ),
});

const group = "Members";
const admins = { auth: "admin", limit: "general", group } as const;

/** Who belongs to the organization. */
export const MEMBER_ROUTES = {
  listMembers: {
    method: "get",
    path: "/api/dashboard/members",
    group,
    summary: "List the members",
    auth: "dashboard",
    limit: "general",
    success: ok("All members, oldest first", v.array(Member)),
  },
  addMember: {
    method: "post",
    path: "/api/dashboard/members",
    summary: "Add a member with a first password",
    ...admins,
    body: MemberBody,
    success: created("The member, who can sign in at once", Member),
    others: [refused(409, "The e-mail address has an account")],
  },
  changeMemberRole: {
    method: "patch",
    path: "/api/dashboard/members/:id",
    summary: "Change the role of a member",
    ...admins,
    body: MemberRoleBody,
    success: ok("The member; the role holds from the next request on", Member),
    others: [refused(409, "The member is the owner, who stays an admin")],
  },
  removeMember: {
    method: "delete",
    path: "/api/dashboard/members/:id",
    summary: "Remove a member",
    ...admins,
    success: ok("Removed: the member's tokens are no longer valid", Success),
    others: [refused(409, "The member is the owner, who stays")],
  },
} as const satisfies Record<string, Route>;

const dashboard = { auth: "dashboard", limit: "general" } as const;

/** The organization itself, what it may do, its calls and its keys. */
export const ORGANIZATION_ROUTES = {
  getOrganization: {
    method: "get",
    path: "/api/dashboard/organization",
    group: "Organization",
    summary: "Show the organization with its plan",
    ...dashboard,
    success: ok("The organization", Organization),
  },
  renameOrganization: {
    method: "patch",
    path: "/api/dashboard/organization",
    group: "Organization",
    summary: "Rename the organization",
    ...dashboard,
    body: OrganizationBody,
    success: ok("The organization with its new name", Organization),
  },
  getStats: {
    method: "get",
    path: "/api/dashboard/stats",
    group: "Organization",
    summary: "Sum up calls and agents",
    ...dashboard,
    success: ok("Totals of all time", Stats),
  },
  getPlan: {
    method: "get",
    path: "/api/dashboard/plan",
    group: "Organization",
    summary: "Show what the plan includes",
    ...dashboard,
    success: ok("The plan", OwnPlan),
  },
  searchModels: {
    method: "get",
    path: "/api/dashboard/models/search",
    group: "Organization",
    summary: "Search the models of all providers",
    ...dashboard,
    query: ModelSearchQuery,
    success: ok("A page of models, those that the plan allows first", FoundModels),
  },
  listAudit: {
    method: "get",
    path: "/api/dashboard/audit",
    group: "Organization",
    summary: "List who changed what",
    ...dashboard,
    query: AuditQuery,
    success: ok("A page of changes of the last 400 days, newest first", AuditEntries),
  },
  listCalls: {
    method: "get",
    path: "/api/dashboard/calls",
    group: "Calls",
    summary: "List calls",
    ...dashboard,
    query: CallsQuery,
    success: ok("A page of calls without their transcripts, newest first", Calls),
  },
  getOutboundNumbers: {
    method: "get",
    path: "/api/dashboard/phone-numbers",
    group: "Calls",
    summary: "Show the numbers of the organization, and whom agents may call",
    auth: "dashboard",
    limit: "general",
    success: ok("What the platform's administrator has allowed", OutboundNumbers),
  },
  updatePhoneNumber: {
    method: "patch",
    path: "/api/dashboard/phone-numbers/:id",
    group: "Calls",
    summary: "Choose the agent that answers a number, and the account that carries its calls",
    ...dashboard,
    body: UpdatePhoneNumberBody,
    success: ok("The number with its agent", InboundNumber),
    others: [
      refused(403, "As for other routes, or an account is named by another than an admin"),
      refused(404, "The organization has no such number, or no such agent"),
    ],
  },
  releasePhoneNumber: {
    method: "delete",
    path: "/api/dashboard/phone-numbers/:id",
    group: "Calls",
    summary: "Release a number that was imported from an account",
    auth: "admin",
    limit: "general",
    success: ok("Released: its calls find no agent here any more", Success),
    others: [refused(409, "The platform's operator has assigned the number")],
  },
  listDoNotCall: {
    method: "get",
    path: "/api/dashboard/do-not-call",
    group: "Calls",
    summary: "List the numbers to which agents place no calls",
    ...dashboard,
    query: DoNotCallQuery,
    success: ok("A page of the do-not-call list, in ascending order", DoNotCallNumbers),
  },
  addDoNotCall: {
    method: "post",
    path: "/api/dashboard/do-not-call",
    group: "Calls",
    summary: "Add numbers to the do-not-call list",
    ...dashboard,
    body: DoNotCallBody,
    success: ok("Added; those that were on it keep their note", DoNotCallTotal),
    others: [refused(403, "A missing scope, or the list is full")],
  },
  removeDoNotCall: {
    method: "delete",
    path: "/api/dashboard/do-not-call/:id",
    group: "Calls",
    summary: "Take a number from the do-not-call list",
    ...dashboard,
    success: ok("Agents may call it again", Success),
  },
  placeCall: {
    method: "post",
    path: "/api/dashboard/calls",
    group: "Calls",
    summary: "Place a call: the agent calls a telephone",
    auth: "dashboard",
    limit: "vendor",
    body: PlaceCallBody,
    idempotent: true,
    success: created("The call, which rings in a moment", QueuedCall),
    others: [
      refused(404, "There is no such agent, or it is not active"),
      refused(
        409,
        "A provider of the agent is not active, or the first request with the key is in progress",
      ),
      refused(
        403,
        "The plan does not include the agent, `from` or `to` is not allowed, or a missing scope",
      ),
      refused(429, "The plan's limit of calls or minutes is reached, or too many requests"),
      refused(503, "The telephony account is not configured, or its vendor does not take calls"),
    ],
  },
  countCalls: {
    method: "get",
    path: "/api/dashboard/calls/count",
    group: "Calls",
    summary: "Count calls",
    ...dashboard,
    query: CallCountQuery,
    success: ok("The number of calls", CallCount),
  },
  watchCalls: {
    method: "get",
    path: "/api/dashboard/calls/events",
    group: "Calls",
    summary: "Stream the events of all calls",
    ...dashboard,
    success: streamed(
      "Events of all calls, without their words, for a minute at most: then reconnect",
      CALL_EVENTS,
    ),
    others: [
      refused(429, "The organization has its maximum of event streams, or too many requests"),
    ],
  },
  getCall: {
    method: "get",
    path: "/api/dashboard/calls/:id",
    group: "Calls",
    summary: "Show a call with its transcript",
    ...dashboard,
    success: ok("The call", Call),
  },
  watchCall: {
    method: "get",
    path: "/api/dashboard/calls/:id/events",
    group: "Calls",
    summary: "Stream the events of a call with its words",
    ...dashboard,
    success: streamed(
      "Events of the call as they happen, for a minute at most: then reconnect",
      CALL_EVENTS,
    ),
    others: [
      refused(429, "The organization has its maximum of event streams, or too many requests"),
    ],
  },
  endCall: {
    method: "post",
    path: "/api/dashboard/calls/:id/end",
    group: "Calls",
    summary: "End a call",
    ...dashboard,
    success: ok("The agent says goodbye and hangs up; the record shows when it has", Success),
    others: [refused(409, "The call has ended, or is not on this server")],
  },
  transferCall: {
    method: "post",
    path: "/api/dashboard/calls/:id/transfer",
    group: "Calls",
    summary: "Transfer a telephone call",
    ...dashboard,
    body: TransferCallBody,
    success: ok(
      "The agent says so and hands the caller on; the record tells what became of it",
      Success,
    ),
    others: [
      refused(403, "The organization may not call the target, or a missing scope"),
      refused(409, "The call has ended, is not on this server, or is no telephone call"),
    ],
  },
  sayAsPerson: {
    method: "post",
    path: "/api/dashboard/calls/:id/person",
    group: "Calls",
    summary: "In the sandbox: say something as the person who was called",
    ...dashboard,
    body: PersonWordsBody,
    success: ok("The person says it after what they are saying", Success),
    others: [refused(409, "The call has ended, is real, or was not placed with `person: typed`")],
  },
  sayInCall: {
    method: "post",
    path: "/api/dashboard/calls/:id/say",
    group: "Calls",
    summary: "Have the agent say something",
    ...dashboard,
    body: SayBody,
    success: ok(
      "The agent says it as soon as it can; the transcript shows what was heard",
      Success,
    ),
    others: [
      refused(409, "The call has ended, is not open yet or is ending, or three texts wait already"),
    ],
  },
  addCallContext: {
    method: "post",
    path: "/api/dashboard/calls/:id/context",
    group: "Calls",
    summary: "Give the LLM a note during a call",
    ...dashboard,
    body: CallContextBody,
    success: ok("The LLM reads it from its next request on", Success),
    others: [refused(409, "The call has ended, or is not open yet")],
  },
  sendDtmf: {
    method: "post",
    path: "/api/dashboard/calls/:id/dtmf",
    group: "Calls",
    summary: "Send DTMF to the other party of a telephone call",
    ...dashboard,
    body: DtmfBody,
    success: ok("The tones follow what the agent is saying", Success),
    others: [
      refused(409, "The call has ended, is no telephone call, is not open yet, or is ending"),
    ],
  },
  muteAgent: {
    method: "post",
    path: "/api/dashboard/calls/:id/mute",
    group: "Calls",
    summary: "Mute the agent",
    ...dashboard,
    success: ok("The agent stops; it still hears the caller, who is transcribed", Success),
    others: [refused(409, "The call has ended, is not open yet, or is ending")],
  },
  unmuteAgent: {
    method: "post",
    path: "/api/dashboard/calls/:id/unmute",
    group: "Calls",
    summary: "Let a muted agent speak again",
    ...dashboard,
    success: ok("The agent answers what the caller has said meanwhile", Success),
    others: [refused(409, "The call has ended, or is not open yet")],
  },
  listenToCall: {
    method: "post",
    path: "/api/dashboard/calls/:id/listen",
    group: "Calls",
    summary: "Get the address at which a call can be listened to",
    auth: "supervisor",
    limit: "general",
    success: created("The address of a WebSocket, for one connection within 30 s", ListenAddress),
    others: [
      refused(409, "The call has ended"),
      refused(429, "The organization has its maximum of event streams, or too many requests"),
    ],
  },
  getCallRecording: {
    method: "get",
    path: "/api/dashboard/calls/:id/recording",
    group: "Calls",
    summary: "Download the recording of a call",
    ...dashboard,
    success: downloaded("Stereo of 16 bits, the caller left, the agent right", "audio/wav"),
    others: [
      refused(404, "There is no recording of this call, or not yet"),
      refused(416, "The file has none of the bytes that `Range` asks for"),
    ],
  },
  getUsage: {
    method: "get",
    path: "/api/dashboard/analytics/usage",
    group: "Calls",
    summary: "Show daily usage",
    ...dashboard,
    query: UsageQuery,
    success: ok("One entry a day (UTC), oldest first, days without calls too", v.array(DailyUsage)),
  },
  getUsageShares: {
    method: "get",
    path: "/api/dashboard/analytics/usage-shares",
    group: "Calls",
    summary: "Show usage by agent and by key",
    ...dashboard,
    query: UsageQuery,
    success: ok("The largest first", UsageShares),
  },
  getVendorShares: {
    method: "get",
    path: "/api/dashboard/analytics/vendor-shares",
    group: "Calls",
    summary: "Show which vendors have answered and failed",
    ...dashboard,
    query: WaitsQuery,
    success: ok(
      "Those that failed most often first, from the turns of the latest 2,000 calls",
      v.array(VendorShare),
    ),
  },
  getWaits: {
    method: "get",
    path: "/api/dashboard/analytics/waits",
    group: "Calls",
    summary: "Show how long callers waited for replies",
    ...dashboard,
    query: WaitsQuery,
    success: ok(
      "One entry a day (UTC), oldest first, from the latest 2,000 calls",
      v.array(DailyWaits),
    ),
  },
  listApiKeys: {
    method: "get",
    path: "/api/dashboard/api-keys",
    group: "API keys",
    summary: "List the API keys",
    ...dashboard,
    success: ok("All keys, revoked ones too, newest first", v.array(ApiKey)),
  },
  createApiKey: {
    method: "post",
    path: "/api/dashboard/api-keys",
    group: "API keys",
    summary: "Create an API key",
    ...dashboard,
    body: ApiKeyBody,
    success: created("The key: `rawKey` is never shown again", CreatedApiKey),
    others: [refused(403, "The organization is pending or has as many keys as it can have")],
  },
  revokeApiKey: {
    method: "delete",
    path: "/api/dashboard/api-keys/:id",
    group: "API keys",
    summary: "Revoke an API key",
    ...dashboard,
    success: ok("Revoked: it no longer gives access; calls in progress continue", Success),
  },
  createClientToken: {
    method: "post",
    path: "/api/dashboard/client-tokens",
    group: "API keys",
    summary: "Make a token with which a page calls one agent",
    auth: "voice",
    limit: "general",
    body: ClientTokenBody,
    success: created("The token, which cannot be revoked before it expires", IssuedClientToken),
    others: [refused(404, "There is no such agent")],
  },
} as const satisfies Record<string, Route>;
