import assert from "node:assert/strict";
import * as v from "valibot";
import { answersOf } from "../../../api/contract/openapi/openapi.js";
import type { Route, RouteAnswer } from "../../../api/contract/routes/route.js";
import { ROUTES } from "../../../api/contract/routes/route-table.js";
import type { Received } from "../http/loopback-client.js";
import { readEvents } from "./event-stream-reader.js";

const routes = Object.values<Route>(ROUTES).map((route) => ({
  route,
  pattern: new RegExp(`^${route.path.replace(":id", "[^/]+")}$`),
}));

/** Fails when an answer is not what the contract says: a status that is not listed, a field that is missing, wrong or too many. */
export function checkAgainstContract(method: string, path: string, received: Received): void {
  const route = findRoute(method, path);
  if (route === undefined || method === "HEAD") return;
  const answer = answersOf(route).find(({ status }) => status === received.status);
  const what = `${method} ${path} answered ${received.status}: ${received.text}`;
  assert.ok(answer !== undefined, `${what}, which the contract does not list`);
  if (answer.download !== undefined) return;
  if (answer.events === undefined) checkValue(what, answer.schema, received.body);
  else checkEvents(what, answer.events, received.text);
}

function checkEvents(
  what: string,
  schemas: NonNullable<RouteAnswer["events"]>,
  text: string,
): void {
  for (const { name, data } of readEvents(text)) {
    const schema = schemas[name];
    assert.ok(schema !== undefined, `${what}, but the contract has no event ${name}`);
    checkValue(`${what}, event ${name}`, schema, data);
  }
}

function checkValue(what: string, schema: v.GenericSchema, body: unknown): void {
  const parsed = v.safeParse(schema, body);
  assert.ok(
    parsed.success,
    `${what}, but ${JSON.stringify(parsed.issues?.map((issue) => v.getDotPath(issue)))}`,
  );
  assert.deepEqual(parsed.output, body, `${what}, which says more than the contract`);
}

function findRoute(method: string, path: string): Route | undefined {
  const [plainPath = ""] = path.split("?");
  const matching = routes.filter(
    ({ route, pattern }) => route.method === method.toLowerCase() && pattern.test(plainPath),
  );
  const exact = matching.find(({ route }) => route.path === plainPath);
  return (exact ?? matching[0])?.route;
}
