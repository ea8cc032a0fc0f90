import { Failure } from "../../engine/failure.js";
import { type Answer, jsonAnswer } from "../http/answer.js";
import type { Endpoint, IncomingRequest } from "../http/endpoint.js";
import { INGEST_HEADERS, type IngestNetwork } from "./ingest-network.js";
import type { LiveStreams } from "./live-streams.js";
import { demandForm, FORM_BYTES_MAX, parseAnnouncement, parseWithdrawal } from "./webhook-form.js";

export interface WebhookParts {
  readonly streams: LiveStreams;
  readonly network: IngestNetwork;
}

/** How soon an ingest may try again when there is no room for its stream. */
const FULL_RETRY_SEC = 10;

export function publishEndpoint(parts: WebhookParts): Endpoint {
  return webhook("/webhook/on-publish", parts, async (body) => {
    const announcement = parseAnnouncement(body);
    const { streamKey } = announcement;
    const outcome = parts.streams.publish(announcement);
    if (outcome === "full") {
      throw new Failure("unavailable", "too many streams are live: see MAX_STREAMS", {
        retryAfterSec: FULL_RETRY_SEC,
      });
    }
    return { outcome, streamKey };
  });
}

export function unpublishEndpoint(parts: WebhookParts): Endpoint {
  return webhook("/webhook/on-unpublish", parts, async (body) => {
    const { streamKey, session } = parseWithdrawal(body);
    const outcome = parts.streams.unpublish(streamKey, session);
    return { outcome, streamKey, removed: outcome === "removed" };
  });
}

/** A POST of a form by the ingest. It comes every few seconds for every stream: logged as debug. */
function webhook(
  path: string,
  { network }: WebhookParts,
  handle: (body: Buffer) => Promise<object>,
): Endpoint {
  return {
    method: "post",
    path,
    headerNames: [...INGEST_HEADERS, "content-type"],
    readsBody: true,
    bodyBytesMax: FORM_BYTES_MAX,
    isQuiet: true,
    needsClientAddress: true,
    answer(request: IncomingRequest): Promise<Answer> {
      network.demandIngest(request);
      demandForm(request.header("content-type"));
      return request.body().then(handle).then(succeed);
    },
  };
}

function succeed(data: object): Answer {
  return jsonAnswer(200, { success: true, data });
}
