import type { IdempotentRequests } from "../../engine/calls/idempotent-requests.js";
import type { CallListAction, CallLists } from "../../engine/calls/lists/call-lists.js";
import { invalidFields } from "../../engine/request-error.js";
import type { Tenant } from "../../engine/tenancy/tenant.js";
import type { CallListRowRecord } from "../../storage/calls/call-list-record.js";
import type { CountedCallList } from "../../storage/calls/call-list-store.js";
import type { FileDownload } from "../contract/file-download.js";
import { type Handlers, repeatedAnswer } from "../http/endpoints/api-endpoint.js";
import { timestamp } from "./timestamp.js";

export function callListRoutes(
  callLists: CallLists,
  idempotentRequests: Pick<IdempotentRequests, "run">,
): Handlers<
  | "listCallLists"
  | "createCallList"
  | "getCallList"
  | "startCallList"
  | "pauseCallList"
  | "resumeCallList"
  | "cancelCallList"
  | "deleteCallList"
  | "listCallListRows"
  | "getCallListResults"
> {
  const change = async (tenant: Tenant, id: string, action: CallListAction) =>
    listView(await callLists.change(tenant, id, action));
  return {
    listCallLists: async ({ tenant }) =>
      (await callLists.list(tenant.organization.id)).map(listView),
    createCallList: async ({ tenant, idempotency, body: { rows, csv, ...list } }) => {
      const people = peopleOf(rows, csv);
      const { isRepeated, answer } = await idempotentRequests.run(
        tenant.organization.id,
        idempotency,
        async (key) => {
          const keyed = key && { key, answerOf: listView };
          return listView(await callLists.create(tenant, { ...list, people }, keyed));
        },
      );
      return isRepeated ? repeatedAnswer(201, answer) : answer;
    },
    getCallList: async ({ tenant, id }) => {
      const { outcomes, ...list } = await callLists.progress(tenant.organization.id, id);
      const people = outcomes.map(({ state, reason, count }) => ({ state, reason, people: count }));
      return { ...listView(list), outcomes: people };
    },
    startCallList: ({ tenant, id }) => change(tenant, id, "start"),
    pauseCallList: ({ tenant, id }) => change(tenant, id, "pause"),
    resumeCallList: ({ tenant, id }) => change(tenant, id, "resume"),
    cancelCallList: ({ tenant, id }) => change(tenant, id, "cancel"),
    deleteCallList: async ({ tenant, id }) => {
      await callLists.remove(tenant, id);
      return { success: true };
    },
    listCallListRows: async ({ tenant, id, query }) => {
      const { rows, next } = await callLists.rows(tenant.organization.id, id, query);
      return { rows: rows.map(rowView), next: next ?? null };
    },
    getCallListResults: async ({ tenant, id }) =>
      downloadOf(await callLists.results(tenant.organization.id, id)),
  };
}

function peopleOf<Row>(rows: readonly Row[] | undefined, csv: string | undefined) {
  if (rows !== undefined && csv === undefined) return { rows };
  if (csv !== undefined && rows === undefined) return { csv };
  throw invalidFields([{ path: "rows", message: "expected either rows or csv" }]);
}

function listView({ fromNumber, holdCode, holdReason, counts, ...list }: CountedCallList) {
  const { id, name, agentId, vendor, detectMachine, callsMax, windows, retries, state } = list;
  const hold =
    holdCode === null || holdReason === null
      ? null
      : {
          code: holdCode,
          reason: holdReason,
          since: timestamp(list.heldSinceMs ?? list.updatedAtMs),
          retryAt: state === "running" ? timestamp(list.heldUntilMs) : null,
        };
  return {
    id,
    name,
    agentId,
    from: fromNumber,
    vendor,
    detectMachine,
    callsMax,
    windows: windows.map(({ days, from, to }) => ({ days: [...days], from, to })),
    retries: { ...retries },
    state,
    hold,
    nextCallAt: list.nextCallAtMs === null ? null : timestamp(list.nextCallAtMs),
    counts: { ...counts },
    createdAt: timestamp(list.createdAtMs),
    updatedAt: timestamp(list.updatedAtMs),
  };
}

function rowView(row: CallListRowRecord) {
  const { position, number, timeZones, variables, state, attempts, callId, calledAtMs } = row;
  return {
    position,
    to: number,
    timeZones: timeZones.split(" "),
    variables: { ...variables },
    state,
    attempts,
    lastCallId: callId,
    lastCalledAt: calledAtMs === null ? null : timestamp(calledAtMs),
    reason: row.reason,
    nextCallAfter:
      state === "waiting" && attempts > 0 && row.nextAtMs > 0 ? timestamp(row.nextAtMs) : null,
  };
}

function downloadOf(bytes: Buffer): FileDownload {
  return {
    sizeBytes: bytes.length,
    read: (buffer, position) => Promise.resolve(bytes.copy(buffer, 0, position)),
    close: () => Promise.resolve(),
  };
}
