import { type OutputUnit, Validator } from "@cfworker/json-schema";
import * as v from "valibot";
import { isJsonObject, type JsonObject } from "../../storage/records.js";
import type { ToolCall, ToolDefinition } from "../vendors/contracts.js";
import type { CallerChannel } from "./caller-channel.js";

export interface ToolOutcome {
  /** Text for the LLM. */
  readonly content: string;
  /** Text that is spoken to the caller as it is, instead of going to the LLM. */
  readonly spoken?: string | undefined;
  /** The service failed or did not answer in time. */
  readonly isFailed?: boolean;
}

/** The tools that an agent's LLM can call during a call. */
export interface Toolbox {
  readonly definitions: readonly ToolDefinition[];
  /** Credentials for the services. They are removed from results that repeat them. */
  readonly secrets?: readonly string[];
  /** Runs the tool and returns its result. Rejects only when aborted. */
  run(call: ToolCall, caller: CallerChannel, signal: AbortSignal): Promise<ToolOutcome>;
}

export const EMPTY_TOOLBOX: Toolbox = {
  definitions: [],
  run: () => Promise.resolve({ content: "There is no such tool." }),
};

const ArgumentsText = v.pipe(v.string(), v.parseJson(), v.custom<JsonObject>(isJsonObject));

export type ToolArguments =
  | { readonly ok: true; readonly arguments: JsonObject }
  /** `error` is for the LLM, which may try again. */
  | { readonly ok: false; readonly error: string };

/** The LLM's arguments; undefined where they are not a JSON object. */
export function parsedArguments(argumentsJson: string): JsonObject | undefined {
  const parsed = v.safeParse(ArgumentsText, argumentsJson);
  return parsed.success ? parsed.output : undefined;
}

/** The same text for values that mean the same, however the LLM orders their fields. */
export function sortedJson(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) =>
    isJsonObject(each)
      ? Object.fromEntries(
          Object.entries(each).toSorted(([one], [other]) => (one < other ? -1 : 1)),
        )
      : each,
  );
}

/** Parses the LLM's arguments and validates them against the tool's JSON schema (draft 2020-12). Never throws. */
export function toolArguments(argumentsJson: string, parameters: JsonObject): ToolArguments {
  const given = parsedArguments(argumentsJson);
  if (given === undefined) return { ok: false, error: "the arguments are not a JSON object" };
  try {
    const misfit = schemaMisfit(parameters, given);
    if (misfit === undefined) return { ok: true, arguments: given };
    return { ok: false, error: `the arguments do not fit: ${misfit}` };
  } catch {
    // For example a reference that does not resolve.
    return { ok: false, error: "the tool's own JSON schema cannot be used" };
  }
}

/** Why a value from the LLM does not match a JSON schema; undefined if it does. Throws if the schema cannot be used. */
export function schemaMisfit(schema: JsonObject, value: JsonObject): string | undefined {
  const { valid, errors } = new Validator(schema, "2020-12").validate(value);
  return valid ? undefined : explanation(errors);
}

/** The last error is about the value itself, the earlier ones about its parents. */
function explanation(errors: readonly OutputUnit[]): string {
  const innermost = errors.at(-1);
  if (innermost === undefined) return "they are not valid";
  return `${innermost.instanceLocation.replace(/^#\/?/, "") || "object"}: ${innermost.error}`;
}
