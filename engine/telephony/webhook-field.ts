import * as v from "valibot";
import { parseJson } from "./stream-message.js";

const LENGTH_MAX = 64;
const PLAIN = /^[\x21-\x7e]+$/;
const JsonBody = v.record(v.string(), v.unknown());

/** An id or a state in a webhook's body, a form or a JSON object; empty when it has none that is plain text. */
export function webhookField(body: string, name: string): string {
  const value = isJson(body) ? inJson(body, name) : new URLSearchParams(body).get(name);
  return typeof value === "string" && PLAIN.test(value) && value.length <= LENGTH_MAX ? value : "";
}

/** As `webhookField`, of a field that may be a number in JSON. */
export function webhookNumber(body: string, name: string): string {
  const value = isJson(body) ? inJson(body, name) : undefined;
  return typeof value === "number" ? String(value).slice(0, LENGTH_MAX) : webhookField(body, name);
}

function isJson(body: string): boolean {
  return body.trimStart().startsWith("{");
}

function inJson(body: string, name: string): unknown {
  const parsed = v.safeParse(JsonBody, parseJson(body));
  return parsed.success && Object.hasOwn(parsed.output, name) ? parsed.output[name] : undefined;
}
