import { isIP } from "node:net";
import { type FieldFault, invalidFields } from "../../engine/request-error.js";
import { HttpError } from "../http/answer/http-error.js";
import { withoutPort } from "../http/request/client-address.js";
import { LADDER_STATES, type LadderStatus } from "./encoder-status.js";
import type { Announcement } from "./live-streams.js";

export const FORM_BYTES_MAX = 8 * 1024;
export const STREAM_KEY = /^[A-Za-z0-9_-]{1,64}$/;
const SESSION = /^[\w.:-]{1,128}$/;
const ADDRESS_CHARS_MAX = 64;
const TTL_MAX_SEC = 86_400;
const FORM_TYPE = /^application\/x-www-form-urlencoded\s*(?:;|$)/i;
/** A time in ISO 8601 with the offset from UTC, without which it is ambiguous. */
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)$/;
const RUNGS = /^[A-Za-z0-9_-]{1,32}(?: [A-Za-z0-9_-]{1,32}){0,15}$/;
const VIEWER = /^[A-Za-z0-9-]{8,64}$/;
const REASON_CHARS_MAX = 200;
const LADDER_TTL_MS = 30_000;
const MAPPED_IPV4 = /^::ffff:(?=\d+\.)/i;

export interface Withdrawal {
  readonly streamKey: string;
  readonly session: string | undefined;
}

/** A request for a playlist. */
export interface View {
  readonly streamKey: string;
  readonly clientIp: string | undefined;
  /** The player's user agent; undefined if it sends none. */
  readonly viewer: string | undefined;
}

/** Refuses a body that is not a form before it has arrived. */
export function requireForm(contentType: string): void {
  if (isForm(contentType)) return;
  throw new HttpError(
    "unsupported_media_type",
    "content-type: expected application/x-www-form-urlencoded",
  );
}

export function isForm(contentType: string): boolean {
  return FORM_TYPE.test(contentType);
}

/** RequestError `invalid_request` names every invalid field. */
export function parseAnnouncement(body: Buffer): Announcement {
  const form = new WebhookForm(body);
  const announcement = {
    streamKey: form.streamKey(),
    clientIp: form.clientIp(),
    session: form.session(),
    startedAtMs: form.startedAtMs(),
    ttlMs: form.ttlMs(),
  };
  form.requireFaultless();
  return announcement;
}

/** A stream ends whatever its `remoteAddr` is, which is not checked. */
export function parseWithdrawal(body: Buffer): Withdrawal {
  const form = new WebhookForm(body);
  const withdrawal = { streamKey: form.streamKey(), session: form.session() };
  form.requireFaultless();
  return withdrawal;
}

/** RequestError `invalid_request` names every invalid field. */
export function parseLadderStatus(body: Buffer): LadderStatus {
  const form = new WebhookForm(body);
  const status = {
    streamKey: form.streamKey(),
    session: form.session(),
    state: form.ladderState(),
    speed: form.number("speed", 100),
    rungs: form.rungs(),
    restarts: form.number("restarts", 1_000_000) ?? 0,
    reason: form.reason(),
    ttlMs: form.ttlMs() ?? LADDER_TTL_MS,
  };
  form.requireFaultless();
  return status;
}

/** RequestError `invalid_request` names every invalid field. */
export function parseView(body: Buffer): View {
  const form = new WebhookForm(body);
  const view = {
    streamKey: form.streamKey(),
    clientIp: form.clientIp(),
    viewer: form.viewer(),
  };
  form.requireFaultless();
  return view;
}

/** A viewer's request to watch, with or without a token. RequestError `invalid_request` names every invalid field. */
export function parseWatch(body: Buffer): { readonly streamKey: string; readonly token: string } {
  const form = new WebhookForm(body);
  const watch = { streamKey: form.streamKey(), token: form.token() };
  form.requireFaultless();
  return watch;
}

/** The fields of a webhook. */
class WebhookForm {
  readonly #fields: URLSearchParams;
  readonly #faults: FieldFault[] = [];

  constructor(body: Buffer) {
    this.#fields = new URLSearchParams(body.toString());
  }

  requireFaultless(): void {
    if (this.#faults.length > 0) throw invalidFields(this.#faults);
  }

  streamKey(): string {
    const key = this.#text("name") ?? "";
    if (!STREAM_KEY.test(key)) {
      this.#refuse("name", "expected 1 to 64 letters, digits, hyphens or underscores");
    }
    return key;
  }

  /** nginx-rtmp calls it `addr`. Undefined if the ingest reports that it does not know it. */
  clientIp(): string | undefined {
    const isEmpty = this.#fields.get("remoteAddr") === "";
    const given = this.#text("remoteAddr") ?? this.#text("addr");
    if (isEmpty && given === undefined) return undefined;
    return this.#address(given ?? "");
  }

  #address(given: string): string {
    const address = withoutPort(given).replace(MAPPED_IPV4, "");
    if (given.length > ADDRESS_CHARS_MAX || isIP(address) === 0) {
      this.#refuse("remoteAddr", "expected an IPv4 or IPv6 address");
    }
    return address;
  }

  session(): string | undefined {
    const session = this.#text("session");
    if (session !== undefined && !SESSION.test(session)) {
      this.#refuse("session", "expected 1 to 128 letters, digits or any of _ . : -");
    }
    return session;
  }

  viewer(): string | undefined {
    const viewer = this.#text("viewer");
    if (viewer !== undefined && !VIEWER.test(viewer)) {
      this.#refuse("viewer", "expected 8 to 64 letters, digits or hyphens");
    }
    return viewer;
  }

  token(): string {
    return this.#text("token") ?? "";
  }

  startedAtMs(): number | undefined {
    const given = this.#text("startedAt");
    if (given === undefined) return undefined;
    const instantMs = INSTANT.test(given) ? Date.parse(given) : Number.NaN;
    if (Number.isNaN(instantMs)) {
      this.#refuse("startedAt", "expected an ISO 8601 time such as 2026-01-31T12:00:00Z");
    }
    return instantMs;
  }

  ttlMs(): number | undefined {
    const given = this.#text("ttl");
    if (given === undefined) return undefined;
    const seconds = /^\d{1,6}$/.test(given) ? Number(given) : 0;
    if (seconds < 1 || seconds > TTL_MAX_SEC) {
      this.#refuse("ttl", `expected a whole number of seconds from 1 to ${TTL_MAX_SEC}`);
    }
    return seconds * 1_000;
  }

  ladderState(): LadderStatus["state"] {
    const given = this.#text("state");
    const state = LADDER_STATES.find((one) => one === given);
    if (state === undefined) this.#refuse("state", `expected one of ${LADDER_STATES.join(", ")}`);
    return state ?? "starting";
  }

  number(field: string, max: number): number | undefined {
    const given = this.#text(field);
    if (given === undefined) return undefined;
    const value = /^\d{1,7}(?:\.\d{1,3})?$/.test(given) ? Number(given) : Number.NaN;
    if (!(value <= max)) this.#refuse(field, `expected a number from 0 to ${max}`);
    return value;
  }

  rungs(): readonly string[] {
    const given = this.#text("rungs");
    if (given === undefined) return [];
    if (!RUNGS.test(given)) this.#refuse("rungs", "expected names separated by spaces");
    return given.split(" ");
  }

  reason(): string | undefined {
    const given = this.#text("reason");
    if (given !== undefined && given.length > REASON_CHARS_MAX) {
      this.#refuse("reason", `expected at most ${REASON_CHARS_MAX} characters`);
    }
    return given;
  }

  /** An empty field counts as missing. */
  #text(field: string): string | undefined {
    const [value, ...others] = this.#fields.getAll(field);
    if (others.length > 0) this.#refuse(field, "expected once");
    return value === "" ? undefined : value;
  }

  #refuse(path: string, message: string): void {
    this.#faults.push({ path, message });
  }
}
