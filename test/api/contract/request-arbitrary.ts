import * as fc from "fast-check";
import type { OpenApiDocument } from "../../../api/contract/openapi/openapi.js";
import type { Operation } from "../../../api/contract/openapi/operation.js";
import { nearlyFitting } from "./schema-arbitrary.js";

/** A request that is made of the document, right or nearly so. */
export interface Generated {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  readonly credentials: "token" | "key" | "none";
}

export interface DocumentedOperation {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

/** Every operation of the REST API; webhooks have forms of their own. */
export function operationsOf({ paths }: OpenApiDocument): readonly DocumentedOperation[] {
  return Object.entries(paths)
    .filter(([path]) => !path.startsWith("/api/telephony/"))
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
    );
}

export function requestsOf(
  { method, path, operation }: DocumentedOperation,
  document: OpenApiDocument,
): fc.Arbitrary<Generated> {
  return fc.record<Generated>({
    method: fc.constant(method.toUpperCase()),
    path: fc
      .tuple(
        fc.string({ unit: "grapheme", minLength: 1, maxLength: 40 }).filter(isNoDotSegment),
        queryText(operation, document),
      )
      .map(([id, query]) => `${path.replace("{id}", encodedId(id))}?${query}`),
    body: bodyOf(operation, document),
    credentials: fc.constantFrom("token", "key", "none"),
  });
}

function queryText(
  { parameters = [] }: Operation,
  document: OpenApiDocument,
): fc.Arbitrary<string> {
  const values = parameters
    .filter((parameter) => parameter.in === "query")
    .map(({ name, schema }) => [name, nearlyFitting(schema, document.components.schemas)]);
  return fc.record(Object.fromEntries(values), { requiredKeys: [] }).map((query) => {
    const pairs = Object.entries(query).map(([name, value]): [string, string] => [
      name,
      typeof value === "string" ? value : JSON.stringify(value),
    ]);
    return new URLSearchParams(pairs).toString();
  });
}

function bodyOf({ requestBody }: Operation, document: OpenApiDocument): fc.Arbitrary<unknown> {
  const schema = requestBody?.content["application/json"]?.schema;
  return schema === undefined
    ? fc.constant(undefined)
    : nearlyFitting(schema, document.components.schemas);
}

/** Every client of the URL standard takes these out of a path, encoded or not: another operation would be asked. */
function isNoDotSegment(id: string): boolean {
  return id !== "." && id !== "..";
}

function encodedId(id: string): string {
  return encodeURIComponent(id).replaceAll(".", "%2E");
}
