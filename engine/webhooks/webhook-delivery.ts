import * as v from "valibot";
import type { Database } from "../../storage/database.js";
import type { ClaimedJob } from "../../storage/jobs/job-record.js";
import type { Finished } from "../../storage/jobs/job-store.js";
import type { JsonObject, TranscriptMessage } from "../../storage/records.js";
import { webhookQueue } from "../../storage/webhooks/event-outbox.js";
import { type EventRecord, newEvent } from "../../storage/webhooks/event-record.js";
import type {
  DeliveryRecord,
  WebhookEndpointRecord,
} from "../../storage/webhooks/webhook-store.js";
import type { JobHandler, JobOutcome } from "../jobs/job-runner.js";
import type { Logger } from "../log.js";
import type { CredentialCipher } from "../security/credential-cipher.js";
import { webhookSignature } from "../security/standard-webhooks.js";
import { auditEntry, SERVER_ACTOR } from "../tenancy/audit-entry.js";
import { ReadCache } from "../tenancy/read-cache.js";
import type { Clock } from "../time/clock.js";
import type { Connections } from "../vendors/transport/connections.js";
import { postWebhook, type WebhookAnswer } from "./webhook-request.js";
import { openSecrets, type WebhookSecret } from "./webhook-secrets.js";

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
/** From each failed try to the next: ten tries over 75 hours. */
const DELAYS_MS = [
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
];
export const WEBHOOK_TRIES_MAX = DELAYS_MS.length + 1;
/** A delay is so much longer, or less: what has failed together does not come back together. */
const JITTER = 0.1;
const RUNNING_MAX = 128;
const RUNNING_PER_ENDPOINT_MAX = 4;
/** Claimed in one statement with those that run: events of many calls come at the same time. */
const CLAIMED_AHEAD_PER_ENDPOINT = 28;
/** The receiver wants less for a while, and does not say for how long. */
const THROTTLE_MS = 30 * SECOND_MS;
const THROTTLE_MAX_MS = HOUR_MS;
/** An endpoint that has failed so often in a row is down, and is tried once in this time, however many events wait. */
const FAILURES_IN_A_ROW_MAX = 5;
const DOWN_PAUSE_MS = SECOND_MS;
const THROTTLING: ReadonlySet<number> = new Set([429, 502, 504]);
/** An endpoint that acknowledges nothing for this long is disabled. */
export const FAILING_MAX_MS = 5 * 24 * HOUR_MS;
/** Endpoints whose state is remembered; one that falls out is only asked once too often. */
const REMEMBERED_MAX = 10_000;
const GONE = 410;

const Payload = v.object({ endpointId: v.string(), eventId: v.string() });

const TRANSCRIBED: ReadonlySet<string> = new Set(["call.ended", "call.failed"]);

/** Standard Webhooks asks for less than 20 kB. */
const BODY_MAX_BYTES = 20_000;

interface BodyParts {
  readonly event: EventRecord;
  /** Where the call's record is; undefined of an event of no call. */
  readonly callUrl: string | undefined;
  /** What was said in the call, where the endpoint wants it. */
  readonly transcript: readonly TranscriptMessage[] | undefined;
}

/** What is posted for an event: the same in each try. A transcript, or words of a turn, that do not fit are left out. */
function webhookBody({ event, callUrl, transcript }: BodyParts): string {
  const { orgId: organizationId, callId, callSequence: sequence, data } = event;
  const place = callId === null ? { organizationId } : { organizationId, callId, sequence };
  const known = { ...place, ...data, ...(callUrl !== undefined && { callUrl }) };
  const whole = written(event, transcript === undefined ? known : { ...known, transcript });
  if (Buffer.byteLength(whole) < BODY_MAX_BYTES) return whole;
  const cut = {
    ...known,
    ...("messages" in data && { messages: [], isCut: true }),
    ...(transcript !== undefined && { transcript: null }),
  };
  return written(event, cut);
}

function written({ type, atMs }: EventRecord, data: JsonObject): string {
  return JSON.stringify({ type, timestamp: new Date(atMs).toISOString(), data });
}

export interface WebhookDeliveryOptions {
  readonly database: Pick<Database, "webhooks" | "calls" | "recordChanges">;
  readonly connections: Connections;
  readonly cipher: CredentialCipher;
  readonly publicBaseUrl: string | undefined;
  readonly clock: Clock;
  readonly newId: () => string;
  /** From 0 to 1. */
  readonly random: () => number;
  readonly log: Logger;
}

/** An endpoint as it was read, with the secrets that sign. */
interface KnownEndpoint {
  readonly record: WebhookEndpointRecord;
  readonly secrets: readonly WebhookSecret[];
}

/** Delivers events to the endpoints of organizations, as Standard Webhooks has it. */
export class WebhookDelivery implements JobHandler {
  readonly runningMax = RUNNING_MAX;
  readonly triesMax = WEBHOOK_TRIES_MAX;
  readonly claimedAheadPerQueue = CLAIMED_AHEAD_PER_ENDPOINT;
  readonly #endpoints: ReadCache<KnownEndpoint>;
  /** The events of jobs that were claimed together, read together. */
  readonly #events = new WeakMap<ClaimedJob, Promise<EventRecord | undefined>>();
  /** What was answered to jobs that are done and not stored yet. */
  readonly #answered = new WeakMap<ClaimedJob, DeliveryRecord>();
  readonly #options: WebhookDeliveryOptions;
  /** Queues of endpoints that failed last, and how often in a row: one request at a time asks whether they are back. */
  readonly #failing = new Map<string, number>();
  /** Queues of endpoints that want less, and until when, by the clock that never steps. */
  readonly #throttledUntilMs = new Map<string, number>();

  constructor(options: WebhookDeliveryOptions) {
    this.#options = options;
    const { database, clock } = options;
    this.#endpoints = new ReadCache({
      changes: database.recordChanges,
      clock,
      entriesMax: REMEMBERED_MAX,
    });
  }

  runningPerQueue(queue: string): number {
    const untilMs = this.#throttledUntilMs.get(queue);
    if (untilMs !== undefined && this.#options.clock.monotonicMs() < untilMs) return 0;
    this.#throttledUntilMs.delete(queue);
    return this.#failing.has(queue) ? 1 : RUNNING_PER_ENDPOINT_MAX;
  }

  delayMs(tries: number): number {
    const delayMs = DELAYS_MS[Math.min(tries, DELAYS_MS.length) - 1] ?? HOUR_MS;
    return Math.round(delayMs * (1 + JITTER * (2 * this.#options.random() - 1)));
  }

  prepare(jobs: readonly ClaimedJob[]): void {
    const [first] = jobs;
    if (first === undefined) return;
    const ids = jobs.map(({ payload }) => v.parse(Payload, payload).eventId);
    // A queue is that of one endpoint, and so of one organization.
    const read = this.#options.database.webhooks.findEvents(first.orgId, ids);
    // Each job that needs an event and does not get it fails by itself.
    read.catch(() => {});
    for (const [index, job] of jobs.entries()) {
      const id = ids[index] ?? "";
      const event = read.then((events) => events.get(id));
      event.catch(() => {});
      this.#events.set(job, event);
    }
  }

  finish(jobs: readonly ClaimedJob[], nowMs: number): Promise<Finished> {
    const deliveries = jobs
      .map((job) => this.#answered.get(job))
      .filter((delivery) => delivery !== undefined);
    return this.#options.database.webhooks.finish(jobs, deliveries, nowMs);
  }

  async run(job: ClaimedJob, signal: AbortSignal): Promise<JobOutcome> {
    const { webhooks } = this.#options.database;
    const { endpointId } = v.parse(Payload, job.payload);
    const [endpoint, event] = await Promise.all([
      this.#endpoint(job.orgId, endpointId),
      this.#events.get(job),
    ]);
    // The endpoint was deleted, so there is nothing to deliver to.
    if (endpoint === undefined) return { kind: "done" };
    const { record } = endpoint;
    if (record.state === "disabled") {
      return { kind: "failed", error: "the endpoint is disabled" };
    }
    if (event === undefined) return { kind: "failed", error: "the event is not kept any more" };
    const { answer, delivery } = await this.#deliver(job, endpoint, event, signal);
    const outcome = await this.#judge(record, answer);
    // What is delivered is stored with the end of its job.
    if (outcome.kind === "done") this.#answered.set(job, delivery);
    else await webhooks.addDelivery(delivery);
    return outcome;
  }

  #endpoint(orgId: string, id: string): Promise<KnownEndpoint | undefined> {
    const { database, cipher, clock } = this.#options;
    return this.#endpoints.get(`${orgId} ${id}`, async () => {
      const record = await database.webhooks.find(orgId, id);
      if (record === undefined) return undefined;
      return { record, secrets: openSecrets(record.sealedSecrets, cipher, clock.epochMs()) };
    });
  }

  async #deliver(
    job: ClaimedJob,
    { record: endpoint, secrets }: KnownEndpoint,
    event: EventRecord,
    signal: AbortSignal,
  ): Promise<{ readonly answer: WebhookAnswer; readonly delivery: DeliveryRecord }> {
    const { connections, clock, newId } = this.#options;
    const body = await this.#bodyOf(endpoint, event);
    const atMs = clock.epochMs();
    const startedMs = clock.monotonicMs();
    const timestampSec = Math.floor(atMs / SECOND_MS);
    const headers = {
      "content-type": "application/json",
      "user-agent": "Parley",
      "webhook-id": event.id,
      "webhook-timestamp": String(timestampSec),
      "webhook-signature": webhookSignature(secrets, { id: event.id, timestampSec, body }),
    };
    const request = { url: endpoint.url, headers, body, orgId: endpoint.orgId };
    const answer = await postWebhook(request, connections, clock, signal);
    const delivery = {
      id: newId(),
      orgId: endpoint.orgId,
      endpointId: endpoint.id,
      eventId: event.id,
      type: event.type,
      attempt: job.attempts,
      atMs,
      durationMs: Math.round(clock.monotonicMs() - startedMs),
      requestBytes: Buffer.byteLength(body),
      status: answer.status ?? null,
      error: answer.error ?? null,
      answer: answer.answer,
    };
    return { answer, delivery };
  }

  async #bodyOf(endpoint: WebhookEndpointRecord, event: EventRecord): Promise<string> {
    const { database, publicBaseUrl = "" } = this.#options;
    const { callId, orgId, type } = event;
    const callUrl =
      callId === null
        ? undefined
        : `${publicBaseUrl.replace(/\/$/, "")}/api/dashboard/calls/${callId}`;
    const wantsWords = endpoint.includeTranscript && TRANSCRIBED.has(type) && callId !== null;
    const call = wantsWords ? await database.calls.findById(orgId, callId) : undefined;
    return webhookBody({ event, callUrl, transcript: call?.transcript });
  }

  async #judge(
    endpoint: WebhookEndpointRecord,
    { status, retryAfterMs, error }: WebhookAnswer,
  ): Promise<JobOutcome> {
    const { clock, database } = this.#options;
    const queue = webhookQueue(endpoint.id);
    if (status !== undefined && status >= 200 && status < 300) {
      this.#failing.delete(queue);
      if (endpoint.failingSinceMs !== null) await database.webhooks.noteSuccess(endpoint.id);
      return { kind: "done" };
    }
    if (this.#failing.size >= REMEMBERED_MAX) this.#failing.clear();
    const failures = (this.#failing.get(queue) ?? 0) + 1;
    this.#failing.set(queue, failures);
    if (failures >= FAILURES_IN_A_ROW_MAX) this.#throttle(queue, DOWN_PAUSE_MS);
    const nowMs = clock.epochMs();
    const reason = error ?? `the receiver answered ${status}`;
    if (status === GONE) {
      await this.#disable(endpoint, "the receiver answered 410: it is gone");
      return { kind: "failed", error: reason };
    }
    if (endpoint.failingSinceMs === null) await database.webhooks.noteFailure(endpoint.id, nowMs);
    else if (nowMs - endpoint.failingSinceMs >= FAILING_MAX_MS) {
      await this.#disable(endpoint, "nothing was acknowledged for 5 days");
      return { kind: "failed", error: reason };
    }
    const isThrottling = status !== undefined && THROTTLING.has(status);
    const afterMs = retryAfterMs ?? (isThrottling ? THROTTLE_MS : 0);
    if (isThrottling) this.#throttle(queue, Math.min(afterMs, THROTTLE_MAX_MS));
    return { kind: "retry", error: reason, afterMs };
  }

  #throttle(queue: string, forMs: number): void {
    if (this.#throttledUntilMs.size >= REMEMBERED_MAX) this.#throttledUntilMs.clear();
    const untilMs = this.#options.clock.monotonicMs() + forMs;
    this.#throttledUntilMs.set(queue, Math.max(untilMs, this.#throttledUntilMs.get(queue) ?? 0));
  }

  async #disable(endpoint: WebhookEndpointRecord, reason: string): Promise<void> {
    const { database, clock, newId, log } = this.#options;
    const { id, orgId, name } = endpoint;
    const atMs = clock.epochMs();
    const event = newEvent({
      id: `evt_${newId()}`,
      orgId,
      type: "endpoint.disabled",
      callId: null,
      atMs,
      data: { endpointId: id, reason },
    });
    const target = { type: "webhook", id, orgId, name } as const;
    const about = { id: newId(), atMs, actor: SERVER_ACTOR, target } as const;
    const entry = auditEntry({ ...about, action: "webhook.disable" });
    const isDisabled = await database.webhooks.disable(endpoint, reason, event, entry);
    if (isDisabled) log.warn({ endpointId: id, orgId, reason }, "a webhook endpoint was disabled");
  }
}
