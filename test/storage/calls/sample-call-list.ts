import type { CallListRecord, NewCallListRow } from "../../../storage/calls/call-list-record.js";
import type { AuditRecord } from "../../../storage/tenancy/audit-record.js";
import { NOON_MS } from "../sample-records.js";

export function callListRecord(fields: Partial<CallListRecord> = {}): CallListRecord {
  return {
    id: "list",
    orgId: "org",
    name: "Reminders",
    agentId: "agent",
    fromNumber: "+15550109999",
    vendor: null,
    detectMachine: true,
    callsMax: 2,
    windows: [
      { days: ["mon", "tue", "wed", "thu", "fri", "sat", "sun"], from: "00:00", to: "24:00" },
    ],
    retries: { busy: { times: 1, afterMinutes: 5 } },
    state: "ready",
    holdCode: null,
    holdReason: null,
    heldSinceMs: null,
    heldUntilMs: 0,
    vendorRefusals: 0,
    nextCallAtMs: null,
    failuresInRow: 0,
    apiKeyId: null,
    createdAtMs: NOON_MS,
    updatedAtMs: NOON_MS,
    ...fields,
  };
}

/** Those with an odd number live in Berlin, the others in Tokyo. */
export function callListRow(position: number): NewCallListRow {
  return {
    number: `+155501010${String(position).padStart(2, "0")}`,
    timeZones: position % 2 === 1 ? "Europe/Berlin" : "Asia/Tokyo",
    variables: { firstName: `Person ${position}` },
  };
}

let entries = 0;

export function callListEntry(
  action: "create" | "start" | "pause" | "resume" | "cancel" | "delete",
): AuditRecord {
  entries += 1;
  return {
    id: `call list entry ${entries}`,
    orgId: "org",
    atMs: NOON_MS,
    actor: { type: "administrator", id: "server" },
    action: `callList.${action}`,
    targetType: "callList",
    targetId: "list",
    targetName: "Reminders",
    changes: [],
  };
}
