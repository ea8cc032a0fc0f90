import * as v from "valibot";
import { Success } from "../fields.js";
import {
  DeliveriesQuery,
  Job,
  JobsQuery,
  ReplayBody,
  ReplayedEvents,
  SentEvent,
  Webhook,
  WebhookBody,
  WebhookChangeBody,
  WebhookDelivery,
  WebhookWithSecret,
} from "../webhook.js";
import type { Route } from "./route.js";
import { created, ok, refused } from "./route-answer.js";

const dashboard = { auth: "dashboard", limit: "general", group: "Webhooks" } as const;
const isDisabled = refused(409, "The endpoint is disabled");

/** Webhook endpoints, their deliveries, and the durable jobs that send them. */
export const WEBHOOK_ROUTES = {
  listWebhooks: {
    method: "get",
    path: "/api/dashboard/webhooks",
    summary: "List the webhook endpoints",
    ...dashboard,
    success: ok("All endpoints, oldest first", v.array(Webhook)),
  },
  createWebhook: {
    method: "post",
    path: "/api/dashboard/webhooks",
    summary: "Create a webhook endpoint",
    ...dashboard,
    body: WebhookBody,
    success: created("The endpoint: `secret` is never shown again", WebhookWithSecret),
    others: [refused(403, "The organization is pending, or has ten endpoints")],
  },
  getWebhook: {
    method: "get",
    path: "/api/dashboard/webhooks/:id",
    summary: "Show a webhook endpoint",
    ...dashboard,
    success: ok("The endpoint", Webhook),
  },
  updateWebhook: {
    method: "patch",
    path: "/api/dashboard/webhooks/:id",
    summary: "Change a webhook endpoint",
    ...dashboard,
    body: WebhookChangeBody,
    success: ok("The endpoint as it is now", Webhook),
  },
  deleteWebhook: {
    method: "delete",
    path: "/api/dashboard/webhooks/:id",
    summary: "Delete a webhook endpoint",
    ...dashboard,
    success: ok("Deleted: what waited for it is dropped", Success),
  },
  rotateWebhookSecret: {
    method: "post",
    path: "/api/dashboard/webhooks/:id/rotate-secret",
    summary: "Make a new secret for a webhook endpoint",
    ...dashboard,
    success: ok("The endpoint: the secret before signs for one more day, too", WebhookWithSecret),
  },
  testWebhook: {
    method: "post",
    path: "/api/dashboard/webhooks/:id/test",
    summary: "Send a test event",
    ...dashboard,
    success: ok("`webhook.test` is on its way", SentEvent),
    others: [isDisabled],
  },
  listWebhookDeliveries: {
    method: "get",
    path: "/api/dashboard/webhooks/:id/deliveries",
    summary: "List what was sent to a webhook endpoint",
    ...dashboard,
    query: DeliveriesQuery,
    success: ok("One entry a try, of the last 7 days, newest first", v.array(WebhookDelivery)),
  },
  replayWebhook: {
    method: "post",
    path: "/api/dashboard/webhooks/:id/replay",
    summary: "Send the events of a time again",
    ...dashboard,
    body: ReplayBody,
    success: ok("The events that the endpoint wants, with the ids that they had", ReplayedEvents),
    others: [isDisabled],
  },
  resendWebhookDelivery: {
    method: "post",
    path: "/api/dashboard/webhook-deliveries/:id/resend",
    summary: "Send the event of a delivery again",
    ...dashboard,
    success: ok("It is on its way, with the id that it had", Success),
    others: [isDisabled],
  },
  listJobs: {
    method: "get",
    path: "/api/dashboard/jobs",
    summary: "List durable jobs",
    ...dashboard,
    query: JobsQuery,
    success: ok("A page of jobs in that state, newest first", v.array(Job)),
  },
  retryJob: {
    method: "post",
    path: "/api/dashboard/jobs/:id/retry",
    summary: "Run a failed job again",
    ...dashboard,
    success: ok("It is queued, with all its tries", Success),
  },
} as const satisfies Record<string, Route>;
