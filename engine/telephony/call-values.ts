/** What a call is given before it begins: values for the agent's variables, and what it has in place of the agent's own texts. */

import * as v from "valibot";
import { isJsonObject, type JsonObject } from "../../storage/records.js";
import { placeholderFault } from "../placeholders.js";
import { isLanguageTag, LANGUAGE_TAG_CHARACTERS_MAX } from "../vendors/spoken-language.js";

/** A letter, and up to 39 letters, digits and underscores. */
export const VARIABLE_NAME = /^[A-Za-z]\w{0,39}$/;
export const VARIABLE_CHARACTERS_MAX = 500;
/** For one call; a client token has room for less. */
export const VARIABLES_MAX = 50;
export const GREETING_OVERRIDE_CHARACTERS_MAX = 2_000;
/** The prompt is stored with the call, so it is shorter than an agent's own may be. */
export const PROMPT_OVERRIDE_CHARACTERS_MAX = 8_000;
/** A vendor's id of a voice. */
export const VOICE_ID = /^[\x20-\x7e]{1,200}$/;

/** Line breaks, other control characters and lone surrogates, with the blanks around them. */
const CONTROL = /\s*[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]+\s*/gu;

/** A value as it is used: data of one line. */
export function oneLine(text: string): string {
  return text.replace(CONTROL, " ").trim();
}

export type Variables = Readonly<Record<string, string>>;

/** What one call has in place of the agent's own. */
export interface CallOverrides {
  readonly greeting?: string | undefined;
  readonly systemPrompt?: string | undefined;
  /** The vendor's id of a voice of the agent's TTS provider. */
  readonly voice?: string | undefined;
  readonly language?: string | undefined;
}

/** `failed`: no connection; `refused`: the service answered with a status other than 2xx. */
export const PRE_CALL_OUTCOMES = ["ok", "timeout", "refused", "failed", "badAnswer"] as const;

/** What became of the request that an agent makes before a call. It stands in the call's record. */
export interface PreCallResult {
  readonly outcome: (typeof PRE_CALL_OUTCOMES)[number];
  readonly status?: number | undefined;
  readonly durationMs: number;
  /** Says what was wrong, of an answer that could not be used. */
  readonly error?: string | undefined;
  /** The parts of a usable answer that were left out: the name of each, and what was expected. */
  readonly dropped?: readonly string[] | undefined;
  /** The id that the service was told, which the call gets. */
  readonly callId?: string | undefined;
}

export interface CallValues {
  readonly variables?: Variables | undefined;
  readonly overrides?: CallOverrides | undefined;
  readonly preCall?: PreCallResult | undefined;
}

const variableValue = v.pipe(
  v.string(),
  v.maxLength(VARIABLE_CHARACTERS_MAX),
  v.transform((text) => oneLine(text)),
);
const shortText = (charactersMax: number) =>
  v.optional(
    v.pipe(
      v.string(),
      v.maxLength(charactersMax),
      v.transform((text) => text.replace(/[\0\p{Cs}]/gu, "")),
    ),
  );

const overrideEntries = {
  greeting: shortText(GREETING_OVERRIDE_CHARACTERS_MAX),
  systemPrompt: shortText(PROMPT_OVERRIDE_CHARACTERS_MAX),
  voice: v.optional(v.pipe(v.string(), v.regex(VOICE_ID))),
  language: shortText(LANGUAGE_TAG_CHARACTERS_MAX),
};

/** As a call's metadata and the messages between servers hold it. A part that is unreadable is left out. */
export const StoredCallValues = {
  variables: v.fallback(
    v.optional(
      v.pipe(
        v.record(v.pipe(v.string(), v.regex(VARIABLE_NAME)), variableValue),
        v.maxEntries(VARIABLES_MAX),
      ),
    ),
    undefined,
  ),
  overrides: v.fallback(v.optional(v.object(overrideEntries)), undefined),
  preCall: v.fallback(
    v.optional(
      v.object({
        outcome: v.picklist(PRE_CALL_OUTCOMES),
        status: v.optional(v.number()),
        durationMs: v.number(),
        error: v.optional(v.string()),
        dropped: v.optional(v.array(v.string())),
        callId: v.optional(v.string()),
      }),
    ),
    undefined,
  ),
};

/** The values of an earlier call, as its record has them. */
export function valuesIn(metadata: JsonObject): CallValues {
  const parsed = v.safeParse(v.object(StoredCallValues), metadata);
  return parsed.success ? mergedValues(parsed.output) : {};
}

export const VARIABLE_TEXT_EXPECTED = `expected text of at most ${VARIABLE_CHARACTERS_MAX} characters`;
export const VARIABLE_NAME_EXPECTED =
  "expected a name of a letter and up to 39 letters, digits and underscores";
const ANSWER = "expected an object with variables and overrides";
const OBJECT = "expected an object";
/** Names of dropped parts that the record of a call keeps; the last line counts the others. */
const DROPPED_NAMED_MAX = 10;
const NAME_SHOWN_CHARACTERS_MAX = 80;

export interface PreCallAnswer {
  readonly variables?: Variables;
  readonly overrides?: CallOverrides;
  /** The name of each part that was left out, and what was expected: nothing of what came but the name. */
  readonly dropped: readonly string[];
}

/**
 * What a service answers before a call. Numbers and booleans become texts; what is null or empty counts as absent. A
 * part that cannot be used is left out, and the others are used. `error`: nothing can be.
 */
export function preCallAnswer(
  body: string,
  voiceFaultOf: (voice: string) => string | undefined = () => undefined,
): PreCallAnswer | { readonly error: string } {
  const answer = parsedJson(body);
  if (answer === undefined) return { error: "expected JSON" };
  if (!isJsonObject(answer)) return { error: ANSWER };
  const dropped: string[] = [];
  const drop = (path: string, expected: string) => dropped.push(`${path}: ${expected}`);
  const { variables = null, overrides = null, ...unknown } = answer;
  for (const name of Object.keys(unknown)) drop(shownName(name), ANSWER);
  const given = variablesIn(variables, drop);
  const faultOf = (name: keyof CallOverrides, text: string) =>
    name === "voice" ? voiceFaultOf(text) : overrideFault(name, text);
  const own = overridesIn(overrides, faultOf, drop);
  return {
    ...(variables !== null && { variables: given }),
    ...(Object.keys(own).length > 0 && { overrides: own }),
    dropped: bounded(dropped),
  };
}

type Drop = (path: string, expected: string) => void;

function variablesIn(given: unknown, drop: Drop): Variables {
  if (given !== null && !isJsonObject(given)) drop("variables", OBJECT);
  const variables: Record<string, string> = {};
  let moreCount = 0;
  for (const [name, value] of Object.entries(isJsonObject(given) ? given : {})) {
    const path = `variables.${shownName(name)}`;
    const text = isPlainValue(value) ? oneLine(String(value)) : undefined;
    if (value === null || text === "") continue;
    if (!VARIABLE_NAME.test(name)) drop(path, VARIABLE_NAME_EXPECTED);
    else if (text === undefined || text.length > VARIABLE_CHARACTERS_MAX)
      drop(path, VARIABLE_TEXT_EXPECTED);
    else if (Object.keys(variables).length >= VARIABLES_MAX) moreCount += 1;
    else variables[name] = text;
  }
  if (moreCount > 0) drop("variables", `expected at most ${VARIABLES_MAX}; ${moreCount} more came`);
  return variables;
}

function isPlainValue(value: unknown): value is string | number | boolean {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}

function overridesIn(
  given: unknown,
  faultOf: (name: keyof CallOverrides, text: string) => string | undefined,
  drop: Drop,
): CallOverrides {
  if (given !== null && !isJsonObject(given)) drop("overrides", OBJECT);
  const overrides: Record<string, string> = {};
  for (const [name, value] of Object.entries(isJsonObject(given) ? given : {})) {
    const path = `overrides.${shownName(name)}`;
    if (value === null) continue;
    if (!isOverrideName(name)) {
      drop(path, "expected only greeting, systemPrompt, voice and language");
      continue;
    }
    const parsed = v.safeParse(overrideEntries[name], value);
    const fault = parsed.success ? faultOf(name, parsed.output ?? "") : SHORTER[name];
    if (fault !== undefined) drop(path, fault);
    else if (parsed.success && parsed.output !== undefined) overrides[name] = parsed.output;
  }
  return overrides;
}

function isOverrideName(name: string): name is keyof typeof overrideEntries {
  return Object.hasOwn(overrideEntries, name);
}

const SHORTER: Readonly<Record<keyof typeof overrideEntries, string>> = {
  greeting: `expected text of at most ${GREETING_OVERRIDE_CHARACTERS_MAX} characters`,
  systemPrompt: `expected text of at most ${PROMPT_OVERRIDE_CHARACTERS_MAX} characters`,
  voice: "expected 1 to 200 printable ASCII characters",
  language: `expected text of at most ${LANGUAGE_TAG_CHARACTERS_MAX} characters`,
};

/** Why an agent could not have this text either; undefined if it could. */
export function overrideFault(name: keyof CallOverrides, text: string): string | undefined {
  if (name === "voice") return undefined;
  if (text.trim() === "") return "expected text, or nothing for the agent's own";
  if (name === "language") {
    return isLanguageTag(text) ? undefined : "expected a language tag such as de-DE";
  }
  return placeholderFault(text);
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function shownName(name: string): string {
  return oneLine(name.slice(0, NAME_SHOWN_CHARACTERS_MAX));
}

function bounded(lines: readonly string[]): readonly string[] {
  const named = lines.slice(0, DROPPED_NAMED_MAX);
  const moreCount = lines.length - named.length;
  return moreCount === 0 ? named : [...named, `${moreCount} more`];
}

/**
 * Only what is there: a record gets no empty fields, and an empty value replaces none. Later values win, also where all
 * together are too many variables.
 */
export function mergedValues(...values: readonly (CallValues | undefined)[]): CallValues {
  const all = new Map<string, string>();
  let overrides: CallOverrides = {};
  let preCall: PreCallResult | undefined;
  for (const each of values) {
    for (const [name, value] of Object.entries(each?.variables ?? {})) {
      const line = oneLine(value);
      if (line === "") continue;
      all.delete(name);
      all.set(name, line);
    }
    overrides = { ...overrides, ...given(each?.overrides) };
    preCall = each?.preCall ?? preCall;
  }
  const variables = Object.fromEntries([...all].slice(-VARIABLES_MAX));
  return {
    ...(all.size > 0 && { variables }),
    ...(Object.keys(overrides).length > 0 && { overrides }),
    ...(preCall !== undefined && { preCall }),
  };
}

function given(overrides: CallOverrides = {}): CallOverrides {
  return Object.fromEntries(Object.entries(overrides).filter(([, value]) => value !== undefined));
}
