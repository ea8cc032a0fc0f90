import type { Database } from "../../storage/database.js";
import type { JobRecord, JobState } from "../../storage/jobs/job-record.js";
import type { AuditActor } from "../../storage/tenancy/audit-record.js";
import { type EventType, newEvent } from "../../storage/webhooks/event-record.js";
import type {
  DeliveryRecord,
  WebhookEndpointRecord,
} from "../../storage/webhooks/webhook-store.js";
import type { Logger } from "../log.js";
import { invalidFields, RequestError } from "../request-error.js";
import type { CredentialCipher } from "../security/credential-cipher.js";
import { auditEntry, changedFields } from "../tenancy/audit-entry.js";
import type { CancelTimer, Clock } from "../time/clock.js";
import {
  namesPrivateHost,
  PUBLIC_ADDRESS_EXPECTED,
} from "../vendors/transport/private-addresses.js";
import { newWebhookSecret, openSecrets, sealSecrets } from "./webhook-secrets.js";

export const ENDPOINTS_MAX = 10;
/** After a rotation the former secret signs for this long, too. */
export const OLD_SECRET_MS = 24 * 60 * 60 * 1_000;
/** Sent again by one request. */
export const REPLAYED_EVENTS_MAX = 1_000;
/** How long events and deliveries are kept: longer than the tries of one take. */
export const EVENTS_KEPT_MS = 7 * 24 * 60 * 60 * 1_000;
const PURGE_PERIOD_MS = 60 * 60 * 1_000;

export interface EndpointInput {
  readonly name: string;
  readonly url: string;
  readonly eventTypes: readonly EventType[];
  readonly includeTranscript?: boolean | undefined;
}

export interface EndpointChange {
  readonly name?: string | undefined;
  readonly url?: string | undefined;
  readonly eventTypes?: readonly EventType[] | undefined;
  readonly includeTranscript?: boolean | undefined;
  /** `active` sends to a disabled endpoint again. */
  readonly state?: "active" | "disabled" | undefined;
}

export interface EndpointWithSecret {
  readonly endpoint: WebhookEndpointRecord;
  /** Shown once. */
  readonly secret: string;
}

export interface WebhooksOptions {
  readonly database: Pick<Database, "webhooks" | "jobs">;
  readonly cipher: CredentialCipher;
  readonly allowPrivateAddresses: boolean;
  readonly clock: Clock;
  readonly newId: () => string;
}

/** Endpoints of organizations, what was sent to them, and the jobs that send it. */
export class Webhooks {
  readonly #options: WebhooksOptions;

  constructor(options: WebhooksOptions) {
    this.#options = options;
  }

  list(orgId: string): Promise<readonly WebhookEndpointRecord[]> {
    return this.#options.database.webhooks.list(orgId);
  }

  /** RequestError `invalid_request`: a private address; `limit_reached`. */
  async create(
    orgId: string,
    input: EndpointInput,
    actor: AuditActor,
  ): Promise<EndpointWithSecret> {
    const { database, cipher, clock, newId } = this.#options;
    this.#requirePublic(input.url);
    const secret = newWebhookSecret();
    const nowMs = clock.epochMs();
    const { name, url, eventTypes, includeTranscript = false } = input;
    const endpoint: WebhookEndpointRecord = {
      id: newId(),
      orgId,
      name,
      url,
      eventTypes,
      includeTranscript,
      sealedSecrets: sealSecrets([{ secret, expiresAtMs: null }], cipher),
      state: "active",
      disabledReason: null,
      failingSinceMs: null,
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
    };
    const entry = this.#entry(endpoint, "webhook.create", actor);
    if (!(await database.webhooks.insertWithin(endpoint, ENDPOINTS_MAX, entry))) {
      const words = `an organization can have ${ENDPOINTS_MAX} webhook endpoints`;
      throw new RequestError("limit_reached", words);
    }
    return { endpoint, secret };
  }

  /** RequestError `not_found`, `invalid_request`. */
  async get(orgId: string, id: string): Promise<WebhookEndpointRecord> {
    const endpoint = await this.#options.database.webhooks.find(orgId, id);
    if (endpoint === undefined) {
      throw new RequestError("not_found", "there is no such webhook endpoint");
    }
    return endpoint;
  }

  async update(
    orgId: string,
    id: string,
    change: EndpointChange,
    actor: AuditActor,
  ): Promise<WebhookEndpointRecord> {
    const before = await this.get(orgId, id);
    if (change.url !== undefined) this.#requirePublic(change.url);
    const {
      name = before.name,
      url = before.url,
      eventTypes = before.eventTypes,
      includeTranscript = before.includeTranscript,
      state = before.state,
    } = change;
    const given = { name, url, eventTypes, includeTranscript, state };
    const changes = changedFields(before, { ...given });
    if (changes.length === 0) return before;
    const isSame = state === before.state;
    const disabledReason = state === "active" ? null : "it was disabled by hand";
    const after: WebhookEndpointRecord = {
      ...before,
      ...given,
      ...(isSame ? {} : { disabledReason, failingSinceMs: null }),
      updatedAtMs: this.#options.clock.epochMs(),
    };
    await this.#store(after, this.#entry(after, "webhook.update", actor, changes));
    return after;
  }

  async remove(orgId: string, id: string, actor: AuditActor): Promise<void> {
    const endpoint = await this.get(orgId, id);
    const entry = this.#entry(endpoint, "webhook.delete", actor);
    await this.#options.database.webhooks.remove(orgId, id, entry);
  }

  /** The secret before signs on for a day, beside the new one; an older one no more. */
  async rotateSecret(orgId: string, id: string, actor: AuditActor): Promise<EndpointWithSecret> {
    const { cipher, clock } = this.#options;
    const before = await this.get(orgId, id);
    const nowMs = clock.epochMs();
    const secret = newWebhookSecret();
    const old = openSecrets(before.sealedSecrets, cipher, nowMs).slice(0, 1);
    const secrets = [
      { secret, expiresAtMs: null },
      ...old.map((each) => ({ secret: each.secret, expiresAtMs: nowMs + OLD_SECRET_MS })),
    ];
    const endpoint = {
      ...before,
      sealedSecrets: sealSecrets(secrets, cipher),
      updatedAtMs: nowMs,
    };
    await this.#store(endpoint, this.#entry(endpoint, "webhook.rotateSecret", actor));
    return { endpoint, secret };
  }

  /** Sends `webhook.test` to the endpoint, and says the id of the event. */
  async test(orgId: string, id: string): Promise<string> {
    const { database, clock, newId } = this.#options;
    const endpoint = await this.get(orgId, id);
    requireActive(endpoint);
    const event = newEvent({
      id: `evt_${newId()}`,
      orgId,
      type: "webhook.test",
      callId: null,
      atMs: clock.epochMs(),
      data: { message: "This is a test." },
    });
    await database.webhooks.addEventFor(endpoint.id, event);
    return event.id;
  }

  /** What was sent to the endpoint, newest first. */
  async deliveries(
    orgId: string,
    id: string,
    page: { readonly skip: number; readonly limit: number },
  ): Promise<readonly DeliveryRecord[]> {
    await this.get(orgId, id);
    return this.#options.database.webhooks.listDeliveries(orgId, id, page);
  }

  /** Sends the event of a delivery again, with the same id. RequestError `not_found`, `conflict`. */
  async resend(orgId: string, deliveryId: string): Promise<void> {
    const { database, clock, newId } = this.#options;
    const delivery = await database.webhooks.findDelivery(orgId, deliveryId);
    const event = delivery && (await database.webhooks.findEvent(orgId, delivery.eventId));
    if (delivery === undefined || event === undefined) {
      throw new RequestError("not_found", "there is no such delivery");
    }
    requireActive(await this.get(orgId, delivery.endpointId));
    await database.webhooks.resend(delivery.endpointId, [event], newId(), clock.epochMs());
  }

  /** Sends the events of a time again that the endpoint wants, oldest first, and says how many: `REPLAYED_EVENTS_MAX` at most. */
  async replay(
    orgId: string,
    id: string,
    range: { readonly fromMs: number; readonly toMs: number },
  ): Promise<number> {
    const { database, clock, newId } = this.#options;
    const endpoint = await this.get(orgId, id);
    requireActive(endpoint);
    const wanted = { ...range, types: endpoint.eventTypes, limit: REPLAYED_EVENTS_MAX };
    const events = await database.webhooks.eventsBetween(orgId, wanted);
    await database.webhooks.resend(id, events, newId(), clock.epochMs());
    return events.length;
  }

  /** The organization's durable jobs in a state, newest first. */
  jobs(
    orgId: string,
    page: { readonly state: JobState; readonly skip: number; readonly limit: number },
  ): Promise<readonly JobRecord[]> {
    return this.#options.database.jobs.list(orgId, page);
  }

  /** RequestError `not_found`: no such job has failed. */
  async retryJob(orgId: string, id: string): Promise<void> {
    const { database, clock } = this.#options;
    if (await database.jobs.retry(orgId, id, clock.epochMs())) return;
    throw new RequestError("not_found", "there is no such failed job");
  }

  /** Removes old events and deliveries, now and every hour, until it is cancelled. */
  startPurging(log: Logger): CancelTimer {
    const { database, clock } = this.#options;
    const purge = () => {
      database.webhooks.purge(clock.epochMs() - EVENTS_KEPT_MS).catch((error: unknown) => {
        log.warn({ error }, "old webhook events could not be removed");
      });
    };
    purge();
    return clock.every(PURGE_PERIOD_MS, purge);
  }

  async #store(
    endpoint: WebhookEndpointRecord,
    entry: ReturnType<typeof auditEntry>,
  ): Promise<void> {
    if (await this.#options.database.webhooks.update(endpoint, entry)) return;
    throw new RequestError("not_found", "there is no such webhook endpoint");
  }

  #requirePublic(url: string): void {
    if (this.#options.allowPrivateAddresses || !namesPrivateHost(new URL(url))) return;
    const message = PUBLIC_ADDRESS_EXPECTED;
    throw invalidFields([{ path: "url", message }]);
  }

  #entry(
    { id, orgId, name }: WebhookEndpointRecord,
    action: "webhook.create" | "webhook.update" | "webhook.delete" | "webhook.rotateSecret",
    actor: AuditActor,
    changes: readonly string[] = [],
  ) {
    const { clock, newId } = this.#options;
    const target = { type: "webhook", id, orgId, name } as const;
    return auditEntry({ id: newId(), atMs: clock.epochMs(), actor, action, target, changes });
  }
}

function requireActive({ state }: WebhookEndpointRecord): void {
  if (state === "active") return;
  throw new RequestError("conflict", "the webhook endpoint is disabled");
}
