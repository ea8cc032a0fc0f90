import * as v from "valibot";
import type { InputFormat } from "../../audio/audio-format.js";
import type { VendorFault } from "../contracts.js";
import { WEB_SOCKET_PROTOCOLS } from "../setting-fields.js";
import { primaryLanguage } from "../spoken-language.js";
import type { SocketAccess } from "../transport/socket-vendor.js";
import type { RefusedUpgrade } from "../transport/web-socket.js";
import { faultOfStatus, headerOf, type RefusalDetail } from "../vendor-fault.js";
import { tryParse } from "../vendor-json.js";
import {
  endpointOf,
  requireApiKey,
  type VendorContext,
  type VendorSettings,
} from "../vendor-settings.js";

export const VENDOR = "deepgram";
export const DEEPGRAM_URL = "wss://api.deepgram.com";

const refusalSchema = v.object({
  err_code: v.optional(v.string()),
  err_msg: v.optional(v.string()),
});

/** Throws a VendorError as `endpointOf` and `requireApiKey` do. */
export function deepgramAccess(given: VendorSettings, context: VendorContext): SocketAccess {
  const apiKey = requireApiKey(VENDOR, given);
  return {
    context,
    endpoint: endpointOf(VENDOR, given, DEEPGRAM_URL, WEB_SOCKET_PROTOCOLS),
    clientOwned: given.clientOwned,
    orgId: given.orgId,
    apiKey,
    headers: { Authorization: `Token ${apiKey}` },
  };
}

/** The vendor's name for the input format. */
export function deepgramEncoding({ encoding }: InputFormat): string {
  return encoding === "mulaw" ? "mulaw" : "linear16";
}

/** The vendor also returns 403 for a model that a project may not use. */
export function deepgramRefusalFault(code: string | undefined, status: number): VendorFault {
  return code === "INVALID_AUTH" ? "unauthorized" : faultOfStatus(status);
}

export function deepgramRefusal(answer: RefusedUpgrade): RefusalDetail {
  const body = tryParse(refusalSchema, answer.body)?.value;
  return {
    code: body?.err_code,
    message: headerOf(answer.headers, "dg-error") ?? body?.err_msg,
  };
}

/** The vendor knows Cantonese only by this tag: `zh` stands for Mandarin. */
const CANTONESE = "zh-HK";

/** The languages that the caller may speak; the vendor takes the first part of a tag for all of a language. */
export function appendLanguageHints(query: URLSearchParams, languages: readonly string[]): void {
  for (const tag of languages) {
    const isCantonese = tag.toLowerCase() === CANTONESE.toLowerCase();
    query.append("language_hint", isCantonese ? CANTONESE : primaryLanguage(tag));
  }
}

/** A stream with more stops transcribing, without an error. */
const KEYTERM_TOKENS_MAX = 500;
/** Its tokenizer is not public: most names take a token for each three letters, or fewer tokens. */
const KEYTERM_TOKEN_CHARS = 3;
const KEYTERMS_MAX = 100;

/** The first terms that fit into the vendor's limits. */
export function appendKeyterms(query: URLSearchParams, keyterms: readonly string[] = []): void {
  let tokens = 0;
  for (const term of keyterms.slice(0, KEYTERMS_MAX)) {
    tokens += Math.ceil(Buffer.byteLength(term) / KEYTERM_TOKEN_CHARS);
    if (tokens > KEYTERM_TOKENS_MAX) return;
    query.append("keyterm", term);
  }
}
