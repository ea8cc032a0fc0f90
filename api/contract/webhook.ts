import * as v from "valibot";
import { JOB_KINDS, JOB_STATES } from "../../storage/jobs/job-record.js";
import { EVENT_TYPES, type EventType } from "../../storage/webhooks/event-record.js";
import { isWebAddress, URL_CHARACTERS_MAX } from "./agent-tool.js";
import {
  Count,
  choiceField,
  flagField,
  Id,
  momentField,
  nameField,
  requestObject,
  Timestamp,
  wholeNumberParameter,
  worded,
} from "./fields.js";
import { SKIP_MAX } from "./organization.js";

const PAGE_MAX = 100;

/** A test goes to its endpoint whatever that wants. */
const UNSUBSCRIBABLE: ReadonlySet<EventType> = new Set(["webhook.test"]);
const subscribable = EVENT_TYPES.filter((type) => !UNSUBSCRIBABLE.has(type));

const url = worded(
  v.pipe(
    v.string(),
    v.maxLength(URL_CHARACTERS_MAX),
    v.check(isWebAddress),
    v.examples(["https://example.com/webhooks"]),
    v.description("the receiver's http or https address, without user name"),
  ),
);

const eventTypes = worded(
  v.pipe(
    v.array(v.picklist(subscribable)),
    v.minLength(1),
    v.maxLength(subscribable.length),
    v.checkItems((type, index, types) => types.indexOf(type) === index),
    v.description(`the types of events to send, a list of ${subscribable.join(", ")}`),
  ),
);

const includeTranscript = flagField(
  "whether call.ended and call.failed carry the transcript where it fits",
);

export const WebhookBody = requestObject({
  name: nameField("the endpoint's name"),
  url,
  eventTypes,
  includeTranscript: v.optional(includeTranscript),
});

export const WebhookChangeBody = requestObject({
  name: v.optional(nameField("the endpoint's name")),
  url: v.optional(url),
  eventTypes: v.optional(eventTypes),
  includeTranscript: v.optional(includeTranscript),
  state: v.optional(choiceField("whether events are sent", ["active", "disabled"])),
});

export const ReplayBody = requestObject({
  from: momentField("when the first event happened"),
  to: momentField("when the last event happened"),
});

export const DeliveriesQuery = requestObject({
  skip: wholeNumberParameter("how many to skip", { min: 0, max: SKIP_MAX, preset: 0 }),
  limit: wholeNumberParameter("how many to return", { min: 1, max: PAGE_MAX, preset: 20 }),
});

export const JobsQuery = requestObject({
  state: v.optional(choiceField("the state of the jobs", JOB_STATES), "failed"),
  skip: wholeNumberParameter("how many to skip", { min: 0, max: SKIP_MAX, preset: 0 }),
  limit: wholeNumberParameter("how many to return", { min: 1, max: PAGE_MAX, preset: 20 }),
});

export const Webhook = v.object({
  id: Id,
  name: v.string(),
  url: v.string(),
  eventTypes: v.array(v.picklist(EVENT_TYPES)),
  includeTranscript: v.boolean(),
  state: v.picklist(["active", "disabled"]),
  disabledReason: v.nullable(v.string()),
  failingSince: v.pipe(
    v.nullable(Timestamp),
    v.description("since when nothing was acknowledged; after five days it is disabled"),
  ),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});

export const WebhookWithSecret = v.object({
  ...Webhook.entries,
  secret: v.pipe(v.string(), v.description("signs the deliveries; shown only in this answer")),
});

export const SentEvent = v.object({ eventId: Id });
export const ReplayedEvents = v.object({
  events: v.pipe(Count, v.description("how many are sent again, 1,000 at most")),
});

export const WebhookDelivery = v.object({
  id: Id,
  eventId: v.pipe(v.string(), v.description("the header `webhook-id`")),
  type: v.picklist(EVENT_TYPES),
  attempt: Count,
  at: Timestamp,
  durationMs: v.number(),
  requestBytes: Count,
  status: v.pipe(v.nullable(v.number()), v.description("null: no answer came")),
  error: v.pipe(v.nullable(v.string()), v.description("why no answer came")),
  answer: v.pipe(v.string(), v.description("the first 1,024 bytes of the answer")),
});

export const Job = v.object({
  id: Id,
  kind: v.picklist(JOB_KINDS),
  state: v.picklist(JOB_STATES),
  attempts: Count,
  runAfter: Timestamp,
  lastError: v.nullable(v.string()),
  createdAt: Timestamp,
  failedAt: v.nullable(Timestamp),
  payload: v.record(v.string(), v.unknown()),
});
