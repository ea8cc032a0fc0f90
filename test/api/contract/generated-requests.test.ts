import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import * as fc from "fast-check";
import { openApiDocument } from "../../../api/contract/openapi/openapi.js";
import { ROUTES } from "../../../api/contract/routes/route-table.js";
import { LoopbackPlatform, type Tenancy } from "../http/loopback-platform.js";
import { operationsOf, requestsOf } from "./request-arbitrary.js";

const RUNS_EACH = 15;
const document = openApiDocument();
const operations = operationsOf(document);

let platform: LoopbackPlatform;
let tenancy: Tenancy;

before(async () => {
  platform = await LoopbackPlatform.start();
  tenancy = await platform.newTenancy("enterprise");
});

after(() => platform.close());

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
      fc.asyncProperty(
        requestsOf(operation, document),
        async ({ method, path, body, credentials }) => {
          const sent = { headers: headers[credentials], body };
          // The client checks every answer against the contract.
          const { status, text } = await platform.client.send(method, path, sent);
          assert.ok(status < 500, `${method} ${path}: ${text}`);
          statuses.set(status, (statuses.get(status) ?? 0) + 1);
        },
      ),
      { numRuns: RUNS_EACH },
    );
  }
  assert.ok(statuses.has(200) && statuses.has(400) && statuses.has(401) && statuses.has(404));
  assert.deepEqual(platform.logger.ofLevel("error"), []);
});
