import { actorOf } from "../../engine/tenancy/audit-entry.js";
import type { Webhooks } from "../../engine/webhooks/webhooks.js";
import type { JobRecord } from "../../storage/jobs/job-record.js";
import type {
  DeliveryRecord,
  WebhookEndpointRecord,
} from "../../storage/webhooks/webhook-store.js";
import type { Handlers } from "../http/endpoints/api-endpoint.js";
import { timestamp } from "./timestamp.js";

export function webhookRoutes(
  webhooks: Webhooks,
): Handlers<
  | "listWebhooks"
  | "createWebhook"
  | "getWebhook"
  | "updateWebhook"
  | "deleteWebhook"
  | "rotateWebhookSecret"
  | "testWebhook"
  | "listWebhookDeliveries"
  | "replayWebhook"
  | "resendWebhookDelivery"
  | "listJobs"
  | "retryJob"
> {
  return {
    listWebhooks: async ({ tenant }) =>
      (await webhooks.list(tenant.organization.id)).map(endpointView),
    createWebhook: async ({ tenant, body }) => {
      const { id: orgId } = tenant.organization;
      const { endpoint, secret } = await webhooks.create(orgId, body, actorOf(tenant));
      return { ...endpointView(endpoint), secret };
    },
    getWebhook: async ({ tenant, id }) =>
      endpointView(await webhooks.get(tenant.organization.id, id)),
    updateWebhook: async ({ tenant, id, body }) =>
      endpointView(await webhooks.update(tenant.organization.id, id, body, actorOf(tenant))),
    deleteWebhook: async ({ tenant, id }) => {
      await webhooks.remove(tenant.organization.id, id, actorOf(tenant));
      return { success: true };
    },
    rotateWebhookSecret: async ({ tenant, id }) => {
      const { id: orgId } = tenant.organization;
      const { endpoint, secret } = await webhooks.rotateSecret(orgId, id, actorOf(tenant));
      return { ...endpointView(endpoint), secret };
    },
    testWebhook: async ({ tenant, id }) => ({
      eventId: await webhooks.test(tenant.organization.id, id),
    }),
    listWebhookDeliveries: async ({ tenant, id, query }) =>
      (await webhooks.deliveries(tenant.organization.id, id, query)).map(deliveryView),
    replayWebhook: async ({ tenant, id, body }) => {
      const range = { fromMs: Date.parse(body.from), toMs: Date.parse(body.to) };
      return { events: await webhooks.replay(tenant.organization.id, id, range) };
    },
    resendWebhookDelivery: async ({ tenant, id }) => {
      await webhooks.resend(tenant.organization.id, id);
      return { success: true };
    },
    listJobs: async ({ tenant, query }) =>
      (await webhooks.jobs(tenant.organization.id, query)).map(jobView),
    retryJob: async ({ tenant, id }) => {
      await webhooks.retryJob(tenant.organization.id, id);
      return { success: true };
    },
  };
}

/** Never includes the secrets, encrypted or not. */
function endpointView(endpoint: WebhookEndpointRecord) {
  const { id, name, url, eventTypes, includeTranscript, state, disabledReason } = endpoint;
  const { failingSinceMs, createdAtMs, updatedAtMs } = endpoint;
  return {
    id,
    name,
    url,
    eventTypes: [...eventTypes],
    includeTranscript,
    state,
    disabledReason,
    failingSince: failingSinceMs === null ? null : timestamp(failingSinceMs),
    createdAt: timestamp(createdAtMs),
    updatedAt: timestamp(updatedAtMs),
  };
}

function deliveryView({ id, eventId, type, attempt, atMs, ...delivery }: DeliveryRecord) {
  const { durationMs, requestBytes, status, error, answer } = delivery;
  const at = timestamp(atMs);
  return { id, eventId, type, attempt, at, durationMs, requestBytes, status, error, answer };
}

function jobView({ id, kind, state, attempts, lastError, payload, ...job }: JobRecord) {
  return {
    id,
    kind,
    state,
    attempts,
    lastError,
    payload,
    runAfter: timestamp(job.runAfterMs),
    createdAt: timestamp(job.createdAtMs),
    failedAt: job.failedAtMs === null ? null : timestamp(job.failedAtMs),
  };
}
