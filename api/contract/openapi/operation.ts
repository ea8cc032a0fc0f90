import type { JsonSchema } from "./json-schema.js";

export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required: boolean;
  readonly description?: string;
  readonly schema: JsonSchema;
}

export interface Media {
  readonly [contentType: string]: {
    readonly schema: JsonSchema;
    /** The schemas of the JSON in `data`, by the names of the server-sent events. */
    readonly "x-events"?: Readonly<Record<string, JsonSchema>>;
  };
}

export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly tags: readonly string[];
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required: boolean; readonly content: Media };
  readonly responses: Readonly<
    Record<string, { readonly description: string; readonly content: Media }>
  >;
}
