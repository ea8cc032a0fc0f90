import type { AuditRecord } from "../../../storage/tenancy/audit-record.js";
import type { WebhookEndpointRecord } from "../../../storage/webhooks/webhook-store.js";
import { NOON_MS } from "../sample-records.js";

export function endpointRecord(fields: Partial<WebhookEndpointRecord> = {}): WebhookEndpointRecord {
  return {
    id: "endpoint",
    orgId: "org",
    name: "CRM",
    url: "https://example.com/hook",
    eventTypes: ["call.started", "call.ended", "call.failed"],
    includeTranscript: false,
    sealedSecrets: "sealed",
    state: "active",
    disabledReason: null,
    failingSinceMs: null,
    createdAtMs: NOON_MS,
    updatedAtMs: NOON_MS,
    ...fields,
  };
}

let entries = 0;

export function webhookEntry(): AuditRecord {
  entries += 1;
  return {
    id: `entry ${entries}`,
    orgId: "org",
    atMs: NOON_MS,
    actor: { type: "administrator", id: "server" },
    action: "webhook.create",
    targetType: "webhook",
    targetId: "endpoint",
    targetName: "CRM",
    changes: [],
  };
}
