import { type OutputUnit, Validator } from "@cfworker/json-schema";
import * as v from "valibot";
import { isJsonObject, type JsonObject } from "../../storage/records.js";
import type { ToolCall, ToolDefinition } from "../vendors/contracts.js";
import type { CallerChannel } from "./caller-channel.js";

export interface ToolOutcome {
  /** What the model is told. */
  readonly content: string;
  /** Said to the caller as it is, instead of being given to the model. */
  readonly spoken?: string | undefined;
}

/** What an agent's model may have done during a call. */
export interface Toolbox {
  readonly definitions: readonly ToolDefinition[];
  /** What services are shown to let the agent in. An answer that repeats it is kept without it. */
  readonly secrets?: readonly string[];
  /** Does it and says what came of it. Rejects only when aborted. */
  run(call: ToolCall, caller: CallerChannel, signal: AbortSignal): Promise<ToolOutcome>;
}

export const EMPTY_TOOLBOX: Toolbox = {
  definitions: [],
  run: () => Promise.resolve({ content: "There is no such tool." }),
};

const ArgumentsText = v.pipe(v.string(), v.parseJson(), v.custom<JsonObject>(isJsonObject));

export type ToolArguments =
  | { readonly ok: true; readonly arguments: JsonObject }
  /** `error` is for the model, which may try again. */
  | { readonly ok: false; readonly error: string };

/** Reads what a model gave as arguments and checks it by the tool's JSON schema (draft 2020-12). Never throws. */
export function toolArguments(argumentsJson: string, parameters: JsonObject): ToolArguments {
  const parsed = v.safeParse(ArgumentsText, argumentsJson);
  if (!parsed.success) return { ok: false, error: "the arguments are not a JSON object" };
  try {
    const misfit = schemaMisfit(parameters, parsed.output);
    if (misfit === undefined) return { ok: true, arguments: parsed.output };
    return { ok: false, error: `the arguments do not fit: ${misfit}` };
  } catch {
    // For example a reference that leads nowhere.
    return { ok: false, error: "the tool's own JSON schema cannot be used" };
  }
}

/** Why what a model has written does not fit a JSON schema; undefined where it does. Throws where the schema cannot be used. */
export function schemaMisfit(schema: JsonObject, value: JsonObject): string | undefined {
  const { valid, errors } = new Validator(schema, "2020-12").validate(value);
  return valid ? undefined : explanation(errors);
}

/** The last is about the value itself, those before it about what is around. */
function explanation(errors: readonly OutputUnit[]): string {
  const innermost = errors.at(-1);
  if (innermost === undefined) return "they are not valid";
  return `${innermost.instanceLocation.replace(/^#\/?/, "") || "object"}: ${innermost.error}`;
}
