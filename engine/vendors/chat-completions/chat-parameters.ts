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
 * The hidden thoughts of a reasoning model count against the same limit as its reply. Without room for them a voice reply
 * of 200 tokens ends before its first word.
 */
export const REASONING_HEADROOM_TOKENS = 1_024;

/** For every LLM that speaks Chat Completions. */
export const REASONING_FIELDS = { reasoningEffort: v.optional(choice(REASONING_EFFORTS)) };

export const EFFORT = "reasoning_effort";

/** What a model refused once, and how its vendor is asked instead. */
export interface ParameterCorrection {
  readonly parameter: string;
  /** The value that is sent instead; the name that it is sent under; neither: the parameter is left out. */
  readonly value?: string;
  readonly sentAs?: string;
  /** The model refused the parameter beside tools only. */
  readonly onlyWithTools?: true;
}

export interface ParameterSources {
  readonly vendor: string;
  /** The provider's own setting. */
  readonly effort: ReasoningEffort | undefined;
  /** What the vendor takes from all models, such as `stream_options`. */
  readonly common: Readonly<Record<string, unknown>>;
  readonly corrections: readonly ParameterCorrection[];
}

/** The part of a request's body in which models differ. */
export function chatParameters(
  request: Pick<CompletionRequest, "modelId" | "maxTokens" | "temperature" | "tools">,
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
  for (const { parameter, sentAs } of applied) {
    if (parameter === EFFORT || !(parameter in parameters)) continue;
    const value = parameters[parameter];
    delete parameters[parameter];
    if (sentAs !== undefined) parameters[sentAs] = value;
  }
  return parameters;
}

/** What the provider says counts, as near as the model has it. */
function effortFor(
  { reasoning, isKnown }: KnownAbilities,
  set: ReasoningEffort | undefined,
  hasTools: boolean,
): string | undefined {
  if (reasoning === undefined) return isKnown ? undefined : set;
  if (hasTools && reasoning.withTools !== undefined) return reasoning.withTools;
  return nearestEffort(set ?? reasoning.usual, reasoning.efforts);
}

/** The one that differs least; of two the smaller, since a caller waits. */
export function nearestEffort(
  wanted: ReasoningEffort,
  among: readonly ReasoningEffort[],
): ReasoningEffort | undefined {
  const place = (effort: ReasoningEffort) => REASONING_EFFORTS.indexOf(effort);
  const distance = (effort: ReasoningEffort) => Math.abs(place(effort) - place(wanted));
  return among.toSorted((a, b) => distance(a) - distance(b) || place(a) - place(b))[0];
}
