import type { JsonObject, TranscriptMessage } from "../../storage/records.js";
import type { EventRecord } from "../../storage/webhooks/event-record.js";

/** Standard Webhooks asks for less than 20 kB. */
export const BODY_MAX_BYTES = 20_000;

export interface BodyParts {
  readonly event: EventRecord;
  /** Where the call's record is; undefined of an event of no call. */
  readonly callUrl: string | undefined;
  /** What was said in the call, where the endpoint wants it. */
  readonly transcript: readonly TranscriptMessage[] | undefined;
}

/** What is posted for an event: the same in each try. A transcript, or words of a turn, that do not fit are left out. */
export function webhookBody({ event, callUrl, transcript }: BodyParts): string {
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
