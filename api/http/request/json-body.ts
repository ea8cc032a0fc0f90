import { invalidFields, type RequestError } from "../../../engine/request-error.js";
import { HttpError } from "../answer/http-error.js";

/** No record of the contract is nested deeper than 4; credentials and settings of providers get some room. */
export const JSON_DEPTH_MAX = 32;
/**
 * The limit of commas, colons and opening brackets in a body. Long texts parse within a millisecond, but many tiny
 * values do not; a provider's list of 1,000 models has 7,000.
 */
const JSON_MARKS_MAX = 8_000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const JSON_CONTENT_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;
/** Skips a byte order mark. */
const decoder = new TextDecoder("utf-8", { fatal: true });

/** Returns the value of a JSON body. `contentType` may be empty: many clients send none. */
export function parseJsonBody(bytes: Uint8Array, contentType: string): unknown {
  if (contentType !== "" && !JSON_CONTENT_TYPE.test(contentType)) {
    throw new HttpError("unsupported_media_type", "content-type: expected application/json");
  }
  if (bytes.length === 0) throw invalidBody("expected a JSON object, the body is empty");
  refuseDenseJson(bytes);
  return parse(decode(bytes));
}

function decode(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch (error) {
    throw invalidBody("expected UTF-8 text", error);
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw invalidBody("expected valid JSON", error);
  }
}

/** Checks only the structure, outside of strings: the parser refuses invalid JSON. */
function refuseDenseJson(bytes: Uint8Array): void {
  let depth = 0;
  let markCount = 0;
  for (let index = 0; index < bytes.length; index += 1) {
    switch (bytes[index] ?? 0) {
      case QUOTE:
        index = endOfString(bytes, index);
        break;
      case 0x5b:
      case 0x7b:
        depth += 1;
        if (depth > JSON_DEPTH_MAX) {
          throw invalidBody(`expected JSON nested at most ${JSON_DEPTH_MAX} deep`);
        }
        markCount += 1;
        break;
      case 0x5d:
      case 0x7d:
        depth -= 1;
        break;
      case 0x2c:
      case 0x3a:
        markCount += 1;
        break;
      default:
    }
    if (markCount > JSON_MARKS_MAX) {
      throw invalidBody(`expected at most ${JSON_MARKS_MAX} commas, colons and opening brackets`);
    }
  }
}

/** Returns the index of the closing quote of the string that opens at `start`, or of the end of the bytes. */
function endOfString(bytes: Uint8Array, start: number): number {
  const quote = bytes.indexOf(QUOTE, start + 1);
  if (quote === -1) return bytes.length;
  return isEscaped(bytes, quote) ? endOfEscapedString(bytes, quote) : quote;
}

/** Like `endOfString`, but from a quote within the string on: text with one escaped quote may contain thousands. */
function endOfEscapedString(bytes: Uint8Array, within: number): number {
  let index = within + 1;
  while (index < bytes.length && bytes[index] !== QUOTE) {
    index += bytes[index] === BACKSLASH ? 2 : 1;
  }
  return Math.min(index, bytes.length);
}

/** A quote after an odd number of backslashes is part of the string. */
function isEscaped(bytes: Uint8Array, quote: number): boolean {
  let first = quote;
  while (bytes[first - 1] === BACKSLASH) first -= 1;
  return (quote - first) % 2 === 1;
}

function invalidBody(message: string, cause?: unknown): RequestError {
  return invalidFields([{ path: "body", message }], "invalid_request", { cause });
}
