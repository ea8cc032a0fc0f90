import {
  type ConversionConfig,
  type JsonSchema,
  toJsonSchema,
  toJsonSchemaDefs,
} from "@valibot/to-json-schema";
import type { GenericSchema } from "valibot";
import { ANSWER_COMPONENTS, REQUEST_COMPONENTS } from "./components.js";

export type { JsonSchema } from "@valibot/to-json-schema";

const COMPONENTS = { ...REQUEST_COMPONENTS, ...ANSWER_COMPONENTS };
const NAMES = new Map(Object.entries(COMPONENTS).map(([name, schema]) => [schema, name]));

/** How a schema looks to who sends the value, or to who receives it. */
type Side = "input" | "output";

export function componentSchemas(): Readonly<Record<string, JsonSchema>> {
  return {
    ...toJsonSchemaDefs(REQUEST_COMPONENTS, conversion("input")),
    ...toJsonSchemaDefs(ANSWER_COMPONENTS, conversion("output")),
  };
}

/** A reference where the schema is a component, so that the document says everything once. */
export function jsonSchemaOf(schema: GenericSchema, side: Side): JsonSchema {
  const name = NAMES.get(schema);
  if (name !== undefined) return { $ref: referenceTo(name) };
  return withoutDefinitions(toJsonSchema(schema, { ...conversion(side), definitions: COMPONENTS }));
}

function referenceTo(name: string): string {
  return `#/components/schemas/${name}`;
}

function conversion(typeMode: Side): ConversionConfig {
  return {
    target: "draft-2020-12",
    typeMode,
    errorMode: "throw",
    // Neither is a promise that a JSON Schema could make; the descriptions make it in words.
    ignoreActions: ["trim", "check", "check_items"],
    overrideRef: ({ referenceId }) => referenceTo(referenceId),
    // JSON Schema's patterns are read with the flag `u` anyhow; the library refuses flags.
    overrideAction: ({ valibotAction, jsonSchema }) =>
      "requirement" in valibotAction && valibotAction.requirement instanceof RegExp
        ? { ...jsonSchema, pattern: valibotAction.requirement.source }
        : undefined,
  };
}

function withoutDefinitions({
  $schema: _draft,
  $defs: _components,
  ...schema
}: JsonSchema): JsonSchema {
  return schema;
}
