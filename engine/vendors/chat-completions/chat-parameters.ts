import * as v from "valibot";
import type { CompletionRequest } from "../contracts.js";
import {
  type KnownAbilities,
  languageAbilities,
  REASONING_EFFORTS,
  type ReasoningEffort,
} from "../model-catalog.js";
import { choice } from "../setting-fields.js";

/**
 * A reasoning model's hidden reasoning counts against the same limit as its reply. Without room for it, a voice
 * reply of 200 tokens ends before its first word.
 */
export const REASONING_HEADROOM_TOKENS = 1_024;

/** For every LLM that uses Chat Completions. */
export const REASONING_FIELDS = { reasoningEffort: v.optional(choice(REASONING_EFFORTS)) };

export const EFFORT = "reasoning_effort";
/** A model that refuses it gets the request without tools instead. */
export const TOOL_CHOICE = "tool_choice";

/** A parameter that a model refused once, and how requests are corrected. */
export interface ParameterCorrection {
  readonly parameter: string;
  /** The replacement value, or the replacement name; without either the parameter is omitted. */
  readonly value?: string;
  readonly sentAs?: string;
  /** The model refused the parameter only together with tools. */
  readonly onlyWithTools?: true;
}

export interface ParameterSources {
  readonly vendor: string;
  /** The provider's own setting. */
  readonly effort: ReasoningEffort | undefined;
  /** Fields that the vendor accepts for all models, such as `stream_options`. */
  readonly common: Readonly<Record<string, unknown>>;
  readonly corrections: readonly ParameterCorrection[];
}

/** The part of a request's body that differs between models. */
export function chatParameters(
  request: Pick<
    CompletionRequest,
    "modelId" | "maxTokens" | "temperature" | "tools" | "toolChoice"
  >,
  { vendor, effort: setEffort, common, corrections }: ParameterSources,
): Readonly<Record<string, unknown>> {
  const abilities = languageAbilities(vendor, request.modelId);
  const hasTools = (request.tools ?? []).length > 0;
  const applied = corrections.filter(({ onlyWithTools }) => hasTools || onlyWithTools !== true);
  const corrected = applied.findLast(({ parameter }) => parameter === EFFORT);
  const effort =
    corrected === undefined ? effortFor(abilities, setEffort, hasTools) : corrected.value;
  const thinks = abilities.thinks === true || (effort !== undefined && effort !== "none");
  const takesTemperature =
    abilities.temperature === "always" || (abilities.temperature === "withoutReasoning" && !thinks);
  const parameters: Record<string, unknown> = {
    ...common,
    ...abilities.fixed,
    [abilities.limit]: request.maxTokens + (thinks ? REASONING_HEADROOM_TOKENS : 0),
  };
  if (takesTemperature && request.temperature !== null) {
    parameters["temperature"] = request.temperature;
  }
  if (effort !== undefined) parameters[EFFORT] = effort;
  if (hasTools && request.toolChoice === "none") parameters[TOOL_CHOICE] = "none";
  for (const { parameter, sentAs } of applied) {
    if (parameter === EFFORT || !(parameter in parameters)) continue;
    const value = parameters[parameter];
    delete parameters[parameter];
    if (sentAs !== undefined) parameters[sentAs] = value;
  }
  return parameters;
}

/** The provider's setting, as near as the model supports it. */
function effortFor(
  { reasoning, isKnown }: KnownAbilities,
  set: ReasoningEffort | undefined,
  hasTools: boolean,
): string | undefined {
  if (reasoning === undefined) return isKnown ? undefined : set;
  if (hasTools && reasoning.withTools !== undefined) return reasoning.withTools;
  return nearestEffort(set ?? reasoning.usual, reasoning.efforts);
}

/** The nearest supported value; of two equally near the smaller, since a caller waits. */
export function nearestEffort(
  wanted: ReasoningEffort,
  among: readonly ReasoningEffort[],
): ReasoningEffort | undefined {
  const place = (effort: ReasoningEffort) => REASONING_EFFORTS.indexOf(effort);
  const distance = (effort: ReasoningEffort) => Math.abs(place(effort) - place(wanted));
  return among.toSorted((a, b) => distance(a) - distance(b) || place(a) - place(b))[0];
}

/** The reason of a refused request. It may repeat words of the call: it is read and not kept. */
export interface RequestRefusal {
  readonly status: number;
  /** The parameter that the vendor names in its own field. */
  readonly param: string | undefined;
  readonly code: string | undefined;
  readonly message: string;
}

export interface SentParameters {
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly hasTools: boolean;
}

export interface FoundCorrection {
  readonly correction: ParameterCorrection;
  /** False if the vendor refuses the value, not the parameter: another value may work. */
  readonly isForGood: boolean;
}

/** Mistral and FastAPI servers use 422. */
const REFUSED_REQUEST: ReadonlySet<number> = new Set([400, 422]);

/** The two names of the limit: a server that refuses one accepts the other. */
const OTHER_NAME: ReadonlyMap<string, string> = new Map([
  ["max_tokens", "max_completion_tokens"],
  ["max_completion_tokens", "max_tokens"],
]);

/** Other names that vendors use for a parameter when they refuse it. */
const SYNONYMS: ReadonlyMap<string, RegExp> = new Map([
  [EFFORT, /\breasoning[._ ]?effort\b|\bthinking\b|\breasoning\b/i],
]);

const OF_VALUE =
  /\b(?:range|between|at most|at least|(?:less|greater|more) than|too large|maximum)\b|[<>]=|[≤≥]/i;
const CONTEXT_LENGTH = /context[ _](?:length|window)/i;
/** Vendors list the accepted values after these words. */
const TAKEN = /supported values?|expected|must be|one of|\bset\b|\buse\b/i;
const CANNOT_STOP_THINKING =
  /can(?:no|')t be disabled|cannot be disabled|budget 0|only works in thinking mode/i;

/**
 * How to correct the request after a refusal that names one of the parameters that differ between models;
 * undefined for any other refusal.
 */
export function correctionFor(
  refusal: RequestRefusal,
  sent: SentParameters,
): FoundCorrection | undefined {
  if (!REFUSED_REQUEST.has(refusal.status) || CONTEXT_LENGTH.test(refusal.message))
    return undefined;
  const parameter = namedParameter(refusal, sent.parameters);
  if (parameter === undefined) return undefined;
  if (parameter === EFFORT) return effortCorrection(refusal, sent);
  const sentAs = OTHER_NAME.get(parameter);
  const isValue = OF_VALUE.test(refusal.message);
  // A limit that is too high is too high under any name.
  if (sentAs !== undefined && isValue) return undefined;
  const correction = sentAs === undefined ? { parameter } : { parameter, sentAs };
  return { correction, isForGood: !isValue };
}

/** The vendor's own `param`, or else the first sent parameter that its text names. */
function namedParameter(
  { param, message }: RequestRefusal,
  parameters: Readonly<Record<string, unknown>>,
): string | undefined {
  const names = [...new Set([...Object.keys(parameters), EFFORT])];
  if (param !== undefined) {
    const exact = names.find((name) => name === param || param.endsWith(`.${name}`));
    if (exact !== undefined) return exact;
    const other = names.find((name) => SYNONYMS.get(name)?.test(param));
    if (other !== undefined) return other;
    // `messages`, `tools`, `model`: these cannot be omitted.
    if (param !== "" && !isGeneral(param)) return undefined;
  }
  const places = names
    .map((name) => ({ name, at: placeOf(name, message) }))
    .filter(({ at }) => at >= 0)
    .toSorted((a, b) => a.at - b.at);
  if (places[0] !== undefined) return places[0].name;
  return EFFORT in parameters && SYNONYMS.get(EFFORT)?.test(message) ? EFFORT : undefined;
}

/** Names that identify no parameter: the body as a whole was invalid. */
function isGeneral(param: string): boolean {
  return param === "body" || param === "None";
}

function placeOf(name: string, message: string): number {
  return message.search(new RegExp(`(?<![\\w.])${name}(?![\\w])`));
}

function effortCorrection(
  { message }: RequestRefusal,
  { parameters, hasTools }: SentParameters,
): FoundCorrection | undefined {
  const sentValue = parameters[EFFORT];
  const was = REASONING_EFFORTS.find((effort) => effort === sentValue);
  const taken = effortsTaken(message).filter((effort) => effort !== was);
  if (hasTools && was !== "none" && /\btools?\b|\bfunctions?\b/i.test(message)) {
    const correction = { parameter: EFFORT, value: "none", onlyWithTools: true } as const;
    return { correction, isForGood: true };
  }
  const nearest =
    nearestEffort(was ?? "none", taken) ??
    (CANNOT_STOP_THINKING.test(message) ? ("low" as const) : undefined);
  if (nearest !== undefined) {
    return { correction: { parameter: EFFORT, value: nearest }, isForGood: true };
  }
  // It was not sent, and the vendor does not say what it expects.
  if (was === undefined) return undefined;
  return { correction: { parameter: EFFORT }, isForGood: true };
}

function effortsTaken(message: string): readonly ReasoningEffort[] {
  const at = message.search(TAKEN);
  if (at < 0) return [];
  const list = message.slice(at);
  return REASONING_EFFORTS.filter((effort) => new RegExp(`['"\`]${effort}['"\`]`).test(list));
}
