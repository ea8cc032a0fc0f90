import type { HttpTool } from "../../storage/tenancy/agent-tool.js";
import { hasPlaceholder, literalParts, wordsWithPlaceholders } from "../placeholders.js";

/** Fills the variables of a text with the values of one call. */
export interface CallTexts {
  fill(text: string, written?: (value: string) => string): string;
}

/** `http://host`, without a variable in it: no value of a call says which server is asked. */
const ORIGIN = /^https?:\/\/[^/?#\\{}]+(?=[/?#]|$)/i;
/** Stands for a value where an address is only checked. */
const ANY_VALUE = "x";
const PRINTABLE = /[^\x20-\x7e]+/gu;

/** Whether variables stand behind the host only. */
export function hasFixedOrigin(url: string): boolean {
  return ORIGIN.test(url);
}

/**
 * The tool's address with the values of a call, percent-encoded. Undefined where a value would lead to another path, as `..`
 * would.
 */
export function filledAddress(
  { url }: Pick<HttpTool, "url">,
  texts: CallTexts,
): string | undefined {
  const filled = texts.fill(url, encodeURIComponent);
  if (filled === url) return url;
  const expected = new URL(texts.fill(url, () => ANY_VALUE));
  const target = URL.canParse(filled) ? new URL(filled) : undefined;
  const isSamePlace =
    target?.origin === expected.origin &&
    target.pathname.split("/").length === expected.pathname.split("/").length &&
    // A last segment that is empty, or a dot, is another place, too.
    target.pathname.endsWith("/") === expected.pathname.endsWith("/");
  return isSamePlace ? filled : undefined;
}

/** Header values are ASCII, so what is not is percent-encoded. */
export function filledHeaders(
  headers: Readonly<Record<string, string>>,
  texts: CallTexts,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, texts.fill(value, inHeader).trim()]),
  );
}

function inHeader(value: string): string {
  return value.replace(PRINTABLE, (other) => encodeURIComponent(other));
}

/**
 * The secrets in headers or fixed parameters. Of a value with variables they are the text beside a variable, alone and with the
 * variable's value, and the defaults. A variable's value alone is none: the record of the call shows it.
 */
export function secretsIn(
  values: Readonly<Record<string, string>>,
  texts: CallTexts,
): readonly string[] {
  const secrets = Object.values(values).flatMap((value) =>
    hasPlaceholder(value)
      ? wordsWithPlaceholders(value).flatMap((word) => secretsOfWord(word, texts))
      : [value],
  );
  return [...new Set(secrets)];
}

function secretsOfWord(word: string, texts: CallTexts): readonly string[] {
  if (!hasPlaceholder(word)) return [word];
  const { around, defaults } = literalParts(word);
  if (around.length === 0) return defaults;
  return [texts.fill(word, inHeader), texts.fill(word), ...around, ...defaults];
}

/** The headers without variables, which are the same in all calls. */
export function fixedHeaders(
  headers: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).filter(([, value]) => !hasPlaceholder(value)));
}

/** The other headers, with the values of a call. */
export function callHeaders(
  headers: Readonly<Record<string, string>>,
  texts: CallTexts,
): Readonly<Record<string, string>> {
  const own = Object.entries(headers).filter(([, value]) => hasPlaceholder(value));
  return filledHeaders(Object.fromEntries(own), texts);
}

/** Arguments are JSON or a query, which have their own escapes. */
export function filledFixed(
  fixed: Readonly<Record<string, string>>,
  texts: CallTexts,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(fixed).map(([name, value]) => [name, texts.fill(value)]),
  );
}
