/** What a call is given before it begins: values for the agent's variables, and what it has in place of the agent's own texts. */

import * as v from "valibot";
import { isJsonObject, type JsonObject } from "../../storage/records.js";

/** A letter, and up to 39 letters, digits and underscores. */
export const VARIABLE_NAME = /^[A-Za-z]\w{0,39}$/;
export const VARIABLE_CHARACTERS_MAX = 500;
/** For one call; a client token has room for less. */
export const VARIABLES_MAX = 50;
export const GREETING_OVERRIDE_CHARACTERS_MAX = 2_000;
/** The prompt is stored with the call, so it is shorter than an agent's own may be. */
export const PROMPT_OVERRIDE_CHARACTERS_MAX = 8_000;
export const LANGUAGE_OVERRIDE_CHARACTERS_MAX = 35;
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
  /** Names the field that was wrong, of an answer that could not be used. */
  readonly error?: string | undefined;
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
  language: shortText(LANGUAGE_OVERRIDE_CHARACTERS_MAX),
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

const TEXT = `text of at most ${VARIABLE_CHARACTERS_MAX} characters`;
const NAMES = "names of a letter and up to 39 letters, digits and underscores";

/** What a service answers before a call. Numbers and booleans become texts. A field that does not exist is named. */
const PreCallAnswer = v.strictObject(
  {
    variables: v.optional(
      v.pipe(
        v.record(
          v.pipe(v.string(), v.regex(VARIABLE_NAME, `expected ${NAMES}`)),
          v.pipe(
            v.union([v.string(), v.number(), v.boolean()], `expected ${TEXT}`),
            v.transform((value) => oneLine(String(value))),
            v.maxLength(VARIABLE_CHARACTERS_MAX, `expected ${TEXT}`),
          ),
          "expected an object",
        ),
        v.maxEntries(VARIABLES_MAX, `expected at most ${VARIABLES_MAX} variables`),
      ),
    ),
    overrides: v.optional(
      v.strictObject(overrideEntries, "expected only greeting, systemPrompt, voice and language"),
    ),
  },
  "expected an object with variables and overrides",
);

const AnswerText = v.pipe(
  v.string(),
  v.parseJson({}, "expected JSON"),
  v.custom<JsonObject>(isJsonObject, "expected an object with variables and overrides"),
  PreCallAnswer,
);

/** `error` names the field and what was expected, and nothing of what came but the field's name. */
export function preCallAnswer(
  body: string,
): Pick<CallValues, "variables" | "overrides"> | { readonly error: string } {
  const parsed = v.safeParse(AnswerText, body, { abortEarly: true });
  if (parsed.success) return parsed.output;
  const [issue] = parsed.issues;
  const path = v.getDotPath(issue) ?? "";
  const message = issue.message.startsWith("expected") ? issue.message : "expected shorter text";
  return { error: path === "" ? message : `${oneLine(path.slice(0, 80))}: ${message}` };
}

/** Only what is there: a record gets no empty fields. Later values win, also where all together are too many variables. */
export function mergedValues(...values: readonly (CallValues | undefined)[]): CallValues {
  const all = new Map<string, string>();
  let overrides: CallOverrides = {};
  let preCall: PreCallResult | undefined;
  for (const each of values) {
    for (const [name, value] of Object.entries(each?.variables ?? {})) {
      all.delete(name);
      all.set(name, oneLine(value));
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
