import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import * as fc from "fast-check";
import { openApiDocument } from "../../../api/contract/openapi.js";
import type { Operation } from "../../../api/contract/operation.js";
import { ROUTES } from "../../../api/contract/route-table.js";
import { LoopbackPlatform, type Tenancy } from "../http/loopback-platform.js";
import { nearlyFitting } from "./schema-arbitrary.js";

const RUNS_EACH = 15;
const document = openApiDocument();
const operations = Object.entries(document.paths)
  .filter(([path]) => !path.startsWith("/api/telephony/"))
  .flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );

interface Generated {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  readonly credentials: "token" | "key" | "none";
}

let platform: LoopbackPlatform;
let tenancy: Tenancy;

before(async () => {
  platform = await LoopbackPlatform.start();
  tenancy = await platform.newTenancy("enterprise");
});

after(() => platform.close());

function queryText({ parameters = [] }: Operation): fc.Arbitrary<string> {
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

function bodyOf({ requestBody }: Operation): fc.Arbitrary<unknown> {
  const schema = requestBody?.content["application/json"]?.schema;
  return schema === undefined
    ? fc.constant(undefined)
    : nearlyFitting(schema, document.components.schemas);
}

function requestsOf({ method, path, operation }: (typeof operations)[number]) {
  return fc.record<Generated>({
    method: fc.constant(method.toUpperCase()),
    path: fc
      .tuple(fc.string({ unit: "grapheme", minLength: 1, maxLength: 40 }), queryText(operation))
      .map(([id, query]) => `${path.replace("{id}", encodedId(id))}?${query}`),
    body: bodyOf(operation),
    credentials: fc.constantFrom("token", "key", "none"),
  });
}

function encodedId(id: string): string {
  return encodeURIComponent(id).replaceAll(".", "%2E");
}

test("the document has every row of the route table", () => {
  const paths = Object.values(ROUTES).map(({ path }) => path.replace(":id", "{id}"));
  assert.deepEqual(new Set(operations.map(({ path }) => path)), new Set(paths));
  assert.equal(operations.length, paths.length);
});

test("no request that can be made of the document is answered with a fault of the server", async () => {
  const headers = { token: tenancy.byToken, key: tenancy.byKey, none: {} };
  const statuses = new Map<number, number>();
  for (const operation of operations) {
    await fc.assert(
      fc.asyncProperty(requestsOf(operation), async ({ method, path, body, credentials }) => {
        const sent = { headers: headers[credentials], body };
        // The client checks every answer against the contract.
        const { status, text } = await platform.client.send(method, path, sent);
        assert.ok(status < 500, `${method} ${path}: ${text}`);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }),
      { numRuns: RUNS_EACH },
    );
  }
  assert.ok(statuses.has(200) && statuses.has(400) && statuses.has(401) && statuses.has(404));
  assert.deepEqual(platform.logger.ofLevel("error"), []);
});
