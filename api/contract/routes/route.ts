import type { GenericSchema, InferOutput } from "valibot";
import type { EventStream, StreamEvents } from "../event-stream.js";
import type { FileDownload } from "../file-download.js";

/**
 * `public`: anybody; `user`: a signed-in user, of a pending organization too; `dashboard`, `voice`: a user, or a key with that
 * scope; `admin`: a signed-in admin of the organization; `supervisor`: the same, or a key with the scope dashboard; `operator`: a signed-in operator of the platform.
 */
export type RouteAuth =
  | "public"
  | "user"
  | "dashboard"
  | "voice"
  | "admin"
  | "supervisor"
  | "operator";
/**
 * `auth`: counted per address, tightly; `general`: per key, user or else address; `vendor`: as `general`, and tightly per
 * organization, since each use costs something at a vendor; `none`: probes.
 */
export type RouteLimit = "auth" | "general" | "vendor" | "none";

/** Fixed by the contract. What so large a body may hold is bounded where it is parsed, on the thread that calls share. */
export const BODY_BYTES_MAX = 1024 * 1024;

export interface RouteAnswer {
  readonly status: number;
  readonly description: string;
  readonly schema: GenericSchema;
  /** Answers with server-sent events in place of JSON, and `schema` is that of their text. */
  readonly events?: StreamEvents;
  /** Answers with a file of this content type in place of JSON, whole or in parts (`Range`). */
  readonly download?: string;
}

/** One method of one path: everything that validates it, guards it and documents it. */
export interface Route {
  readonly method: "get" | "post" | "patch" | "delete";
  readonly path: `/api/${string}`;
  readonly group: string;
  readonly summary: string;
  readonly auth: RouteAuth;
  readonly limit: RouteLimit;
  readonly query?: GenericSchema;
  readonly body?: GenericSchema;
  /** The body is a file, as it is, in place of JSON. */
  readonly upload?: { readonly bytesMax: number };
  /** A request with the header `Idempotency-Key` takes effect once, and is answered as the first time when it is sent again. */
  readonly idempotent?: true;
  readonly success: RouteAnswer;
  /** Answers of this route alone; those that follow from the other fields (401, 404, 429 ...) are not repeated. */
  readonly others?: readonly RouteAnswer[];
}

type Parsed<Schema> = Schema extends GenericSchema ? InferOutput<Schema> : undefined;

export type QueryOf<R extends Route> = Parsed<R["query"]>;
export type BodyOf<R extends Route> = R extends { readonly upload: object }
  ? Uint8Array
  : Parsed<R["body"]>;
export type SuccessOf<R extends Route> = R["success"] extends {
  readonly events: infer Events extends StreamEvents;
}
  ? EventStream<Events>
  : R["success"] extends { readonly download: string }
    ? FileDownload
    : InferOutput<R["success"]["schema"]>;
