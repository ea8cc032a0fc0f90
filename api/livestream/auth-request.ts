import * as v from "valibot";
import { Failure } from "../../engine/failure.js";
import { requestObject, worded } from "../contract/fields.js";
import { withoutPort } from "../http/request/client-address.js";
import { parseJsonBody } from "../http/request/json-body.js";
import { validated } from "../http/request/validation.js";
import { STREAM_KEY } from "./webhook-form.js";

/** Who wants to do what with which stream, as an ingest asks. */
export interface AuthRequest {
  readonly isPublish: boolean;
  /** Reads over WebRTC, as viewers do; all others who read are the ingest's own. */
  readonly isWebRtcRead: boolean;
  /** Undefined when the path names no stream. */
  readonly streamKey: string | undefined;
  /** The client's address as the ingest sees it; empty when the ingest does not say. */
  readonly ip: string;
  /** Everything that was given in a place for secrets. */
  readonly secrets: readonly string[];
}

/** What a broadcaster may append to the key: `rtmp://host/live/KEY?secret=…`. */
const SECRET_NAMES = ["secret", "key", "pass", "password", "token"] as const;
/** Tried for one request. */
const SECRETS_MAX = 8;
/** RTMP paths are application and key; others are the key alone. */
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

/** The JSON of MediaMTX's `authMethod: http`. Failure `invalid` names the wrong field. */
export function parseMediaMtxRequest(body: Buffer, contentType: string): AuthRequest {
  const asked = validated(MediaMtxRequest, parseJsonBody(body, contentType), "body");
  return {
    isPublish: asked.action === "publish",
    isWebRtcRead: asked.action === "read" && asked.protocol === "webrtc",
    streamKey: PATH.exec(asked.path)?.[1],
    ip: withoutPort(asked.ip),
    secrets: given([asked.password, asked.token, ...secretsIn(new URLSearchParams(asked.query))]),
  };
}

/** The form of nginx-rtmp's `on_publish` and `on_play`, with what the client appended to the key. */
export function parseFormRequest(body: Buffer): AuthRequest {
  const form = new URLSearchParams(body.toString());
  const streamKey = form.get("name") ?? "";
  if (!STREAM_KEY.test(streamKey)) {
    const fault = {
      path: "name",
      message: "expected 1 to 64 letters, digits, hyphens or underscores",
    };
    throw new Failure("invalid", `${fault.path}: ${fault.message}`, { details: [fault] });
  }
  return {
    isPublish: (form.get("call") ?? "publish") === "publish",
    isWebRtcRead: false,
    streamKey,
    ip: withoutPort(form.get("addr") ?? ""),
    secrets: given(secretsIn(form)),
  };
}

function secretsIn(fields: URLSearchParams): readonly string[] {
  return SECRET_NAMES.flatMap((name) => fields.getAll(name));
}

function given(secrets: readonly string[]): readonly string[] {
  return secrets.filter((secret) => secret !== "").slice(0, SECRETS_MAX);
}
