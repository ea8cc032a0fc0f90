import * as v from "valibot";
import type { LiveStreamMetrics } from "../../engine/metrics/livestream-metrics.js";
import { RequestError } from "../../engine/request-error.js";
import type { Clock } from "../../engine/time/clock.js";
import { within } from "../../engine/time/deadline.js";
import { requestObject, worded } from "../contract/fields.js";
import { type Answer, jsonAnswer } from "../http/answer/answer.js";
import { HttpError } from "../http/answer/http-error.js";
import type { Endpoint, IncomingRequest } from "../http/endpoints/endpoint.js";
import { AddressBlocks } from "../http/request/address-blocks.js";
import { withoutPort } from "../http/request/client-address.js";
import { parseJsonBody } from "../http/request/json-body.js";
import { validated } from "../http/request/validation.js";
import type { EncoderStatus } from "./encoder-status.js";
import { INGEST_HEADERS, type IngestNetwork } from "./ingest-network.js";
import type { LiveStreams } from "./live-streams.js";
import type { PlaylistWatch } from "./playlist-watch.js";
import type { PublishKeys } from "./publish-keys.js";
import type { RefusalLog } from "./refusal-log.js";
import type { PrivateStreams } from "./view-tokens.js";
import type { ViewerCounts } from "./viewer-counts.js";
import {
  FORM_BYTES_MAX,
  isForm,
  parseAnnouncement,
  parseLadderStatus,
  parseView,
  parseWatch,
  parseWithdrawal,
  requireForm,
  STREAM_KEY,
} from "./webhook-form.js";

/** An ingest's request about a client: its action and its stream. */
export interface AuthRequest {
  readonly isPublish: boolean;
  /** Reads over WebRTC, as viewers do; all other readers are the ingest's own. */
  readonly isWebRtcRead: boolean;
  /** Undefined if the path names no stream. */
  readonly streamKey: string | undefined;
  /** The client's address as the ingest sees it; empty if the ingest does not report it. */
  readonly ip: string;
  /** All values from fields for secrets. */
  readonly secrets: readonly string[];
}

/** Parameters that a broadcaster may append to the key: `rtmp://host/live/KEY?secret=…`. */
const SECRET_NAMES = ["secret", "key", "pass", "password", "token"] as const;
/** The maximum tried for one request. */
const SECRETS_MAX = 8;
/** RTMP paths consist of application and key; others of the key only. */
const PATH = /^(?:[A-Za-z0-9_-]{1,64}\/)?([A-Za-z0-9_-]{1,64})$/;

const text = v.pipe(
  v.optional(v.nullable(v.string()), ""),
  v.transform((given) => given ?? ""),
);
const MediaMtxRequest = requestObject({
  user: text,
  password: text,
  token: text,
  ip: text,
  action: worded(v.pipe(v.string(), v.description("a string such as publish or read"))),
  path: worded(v.pipe(v.string(), v.description("a string such as live/KEY"))),
  query: text,
  protocol: text,
});

/** The JSON of MediaMTX's `authMethod: http`. RequestError `invalid_request` names the invalid field. */
export function parseMediaMtxRequest(body: Buffer, contentType: string): AuthRequest {
  const asked = validated(MediaMtxRequest, parseJsonBody(body, contentType), "body");
  return {
    isPublish: asked.action === "publish",
    isWebRtcRead: asked.action === "read" && asked.protocol === "webrtc",
    streamKey: PATH.exec(asked.path)?.[1],
    ip: withoutPort(asked.ip),
    secrets: nonEmpty([
      asked.password,
      asked.token,
      ...secretsIn(new URLSearchParams(asked.query)),
    ]),
  };
}

/** The form of nginx-rtmp's `on_publish` and `on_play`, with the parameters that the client appended to the key. */
export function parseFormRequest(body: Buffer): AuthRequest {
  const form = new URLSearchParams(body.toString());
  const streamKey = form.get("name") ?? "";
  if (!STREAM_KEY.test(streamKey)) {
    const fault = {
      path: "name",
      message: "expected 1 to 64 letters, digits, hyphens or underscores",
    };
    throw new RequestError("invalid_request", `${fault.path}: ${fault.message}`, {
      details: [fault],
    });
  }
  return {
    isPublish: (form.get("call") ?? "publish") === "publish",
    isWebRtcRead: false,
    streamKey,
    ip: withoutPort(form.get("addr") ?? ""),
    secrets: nonEmpty(secretsIn(form)),
  };
}

function secretsIn(fields: URLSearchParams): readonly string[] {
  return SECRET_NAMES.flatMap((name) => fields.getAll(name));
}

function nonEmpty(secrets: readonly string[]): readonly string[] {
  return secrets.filter((secret) => secret !== "").slice(0, SECRETS_MAX);
}

export interface WebhookParts {
  readonly streams: LiveStreams;
  readonly ladders: EncoderStatus;
  readonly viewers: ViewerCounts;
  readonly privateStreams: PrivateStreams;
  readonly network: IngestNetwork;
  /** Undefined if no folder of playlists is configured. */
  readonly playlists: PlaylistWatch | undefined;
  readonly metrics: LiveStreamMetrics;
  readonly refusals: RefusalLog;
  readonly clock: Clock;
}

/** How soon an ingest may retry if there is no room for its stream. */
const FULL_RETRY_SEC = 10;
/** The stream is live already; only the response to its webhook waits, so that its reader can list the qualities. */
const PLAYLIST_WAIT_MAX_MS = 500;

export function publishEndpoint(parts: WebhookParts): Endpoint {
  const { streams, playlists, metrics, clock } = parts;
  return webhook("/webhook/on-publish", parts, requireForm, async (body) => {
    const announcement = parseAnnouncement(body);
    const { streamKey } = announcement;
    const outcome = streams.publish(announcement);
    metrics.count("publishes", outcome);
    if (outcome === "full") {
      throw new RequestError("overloaded", "too many streams are live: see MAX_STREAMS", {
        retryAfterSec: FULL_RETRY_SEC,
      });
    }
    if (playlists !== undefined) {
      await within(clock, PLAYLIST_WAIT_MAX_MS, playlists.poll(streamKey));
    }
    return { data: { outcome, streamKey } };
  });
}

export function unpublishEndpoint(parts: WebhookParts): Endpoint {
  return webhook("/webhook/on-unpublish", parts, requireForm, async (body) => {
    const { streamKey, session } = parseWithdrawal(body);
    const outcome = parts.streams.unpublish(streamKey, session);
    parts.metrics.count("unpublishes", outcome);
    const removed = outcome === "removed";
    return { removed, data: { outcome, streamKey, removed } };
  });
}

/** The transcoder reports the state of its ladders. */
export function ladderEndpoint(parts: WebhookParts): Endpoint {
  return webhook("/webhook/on-ladder", parts, requireForm, async (body) => {
    const status = parseLadderStatus(body);
    if (!parts.ladders.note(status)) {
      throw new RequestError("overloaded", "too many ladders are fields of", {
        retryAfterSec: FULL_RETRY_SEC,
      });
    }
    return {};
  });
}

/** The front proxy reports a request for a playlist: with an address and a user agent, or a player's random id. */
export function viewEndpoint(parts: WebhookParts): Endpoint {
  return webhook("/webhook/on-view", parts, requireForm, async (body, request) => {
    const { streamKey, clientIp = "", viewer } = parseView(body);
    const who = viewer ?? `${clientIp} ${request.header("user-agent")}`;
    return { counted: parts.viewers.note(streamKey, who) };
  });
}

/** The front proxy asks whether a viewer may watch: 200 or 401. */
export function watchEndpoint(parts: WebhookParts): Endpoint {
  const { privateStreams, metrics } = parts;
  return webhook("/webhook/on-watch", parts, requireForm, async (body) => {
    const { streamKey, token } = parseWatch(body);
    const isAllowed = privateStreams.mayWatch(streamKey, [token]);
    metrics.count("authentications", `watch ${isAllowed ? "allowed" : "refused"}`);
    if (!isAllowed)
      throw new RequestError("unauthenticated", "watch: the token is missing or wrong");
    return { data: { allowed: true } };
  });
}

/** Decides whether a client of the ingest may publish or read: 200 or 401. Only if there are publishing keys. */
export function authEndpoint(parts: WebhookParts, keys: PublishKeys): Endpoint {
  const { network, metrics, privateStreams } = parts;
  return webhook("/webhook/on-auth", parts, undefined, async (body, request) => {
    const contentType = request.header("content-type");
    const asked = isForm(contentType)
      ? parseFormRequest(body)
      : parseMediaMtxRequest(body, contentType);
    const isAllowed = isAllowedRequest(asked, keys, network, privateStreams);
    const what = asked.isPublish ? "publish" : "read";
    metrics.count("authentications", `${what} ${isAllowed ? "allowed" : "refused"}`);
    if (!isAllowed)
      throw new RequestError("unauthenticated", `${what}: the key is missing or wrong`);
    return { data: { allowed: true } };
  });
}

/**
 * The list is public, and so is what WebRTC plays of it; otherwise only the ingest's own transcoder reads, which
 * is on its machine. Viewers may have addresses of the ingest's network, too (those of a local network, and all
 * that a container engine forwards): from there a private stream requires a token.
 */
function isAllowedRequest(
  { isPublish, isWebRtcRead, streamKey, ip, secrets }: AuthRequest,
  keys: PublishKeys,
  network: IngestNetwork,
  privateStreams: PrivateStreams,
): boolean {
  if (!isPublish) {
    const mayWatch = streamKey !== undefined && privateStreams.mayWatch(streamKey, secrets);
    const isPrivate = streamKey !== undefined && !mayWatch;
    return (isWebRtcRead && mayWatch) || isLoopback(ip) || (network.has(ip) && !isPrivate);
  }
  return streamKey !== undefined && keys.opens(streamKey, secrets);
}

const LOOPBACK = new AddressBlocks(["127.0.0.0/8", "::1"]);

function isLoopback(address: string): boolean {
  return LOOPBACK.has(address);
}

/**
 * A POST by the ingest; the response is `handle`'s result plus `success`. It arrives every few seconds for every
 * stream: logged as debug.
 */
function webhook(
  path: string,
  { network, refusals }: WebhookParts,
  requireType: ((contentType: string) => void) | undefined,
  handle: (body: Buffer, request: IncomingRequest) => Promise<object>,
): Endpoint {
  return {
    method: "post",
    path,
    headerNames: [...INGEST_HEADERS, "content-type", "user-agent"],
    readsBody: true,
    bodyBytesMax: FORM_BYTES_MAX,
    isQuiet: true,
    needsClientAddress: true,
    async answer(request: IncomingRequest): Promise<Answer> {
      try {
        network.requireIngest(request);
        requireType?.(request.header("content-type"));
        const answer = await handle(await request.body(), request);
        return jsonAnswer(200, { success: true, ...answer });
      } catch (error) {
        if (error instanceof RequestError || error instanceof HttpError) {
          refusals.note(path, error.message);
        }
        throw error;
      }
    },
  };
}
