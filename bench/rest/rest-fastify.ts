import fastify, { type FastifyRequest } from "fastify";
import * as v from "valibot";
import type { Route } from "../../api/contract/routes/route.js";
import { ROUTES, type RouteId } from "../../api/contract/routes/route-table.js";
import type { AnyHandler } from "../../api/http/endpoints/api-endpoint.js";
import type { IncomingRequest } from "../../api/http/endpoints/endpoint.js";
import { Authentication, limitKey, requireAccess } from "../../api/http/request/authentication.js";
import { RateLimiter } from "../../api/http/request/rate-limiter.js";
import { validated } from "../../api/http/request/validation.js";
import { agentRoutes } from "../../api/routes/agent-routes.js";
import { callRoutes } from "../../api/routes/call-routes.js";
import { organizationRoutes } from "../../api/routes/organization-routes.js";
import { serviceRoutes } from "../../api/routes/service-routes.js";
import { CallReports } from "../../engine/calls/call-reports.js";
import { SandboxPeople } from "../../engine/calls/outbound/sandbox-people.js";
import { SystemClock } from "../../engine/time/clock.js";
import { openDatabase } from "../../storage/database.js";
import { tenancyOn } from "./rest-data.js";

/**
 * The reference: Fastify before the very handlers, store, authentication, limits and validation that the server has, with
 * the same headers in its answers. What differs is the HTTP server and its router.
 */
const clock = new SystemClock();
const database = await openDatabase({ filePath: process.argv[2] ?? "" });
const tenancy = tenancyOn(database);
const authentication = new Authentication(tenancy.accounts, tenancy.apiKeys);
const limiter = new RateLimiter({ usesMax: 10_000_000, windowMs: 60_000 }, clock);
const placesNoCalls = {
  numbers: () => Promise.reject(new Error("not measured")),
  place: () => Promise.reject(new Error("no call is placed")),
};
const callReports = new CallReports({ database, clock });
const handlers = {
  ...serviceRoutes({
    ...tenancy,
    clock,
    isDraining: () => false,
    isReady: () => true,
    storeRefusal: () => undefined,
  }),
  ...agentRoutes(tenancy.agents),
  ...callRoutes(
    callReports,
    placesNoCalls,
    tenancy.phoneNumbers,
    tenancy.doNotCall,
    new SandboxPeople({ controlUrl: undefined, calls: database.calls }),
    { run: () => Promise.reject(new Error("no call is placed")) },
  ),
  ...organizationRoutes({ ...tenancy, callReports }),
};
const MEASURED = [
  "getHealth",
  "listAgents",
  "listCalls",
  "getOrganization",
  "getAgent",
] as const satisfies readonly RouteId[];

/** The headers that the server sends, too. */
const HEADERS = {
  "x-content-type-options": "nosniff",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
};

const Parameters = v.object({ id: v.optional(v.string()) });

const app = fastify({ logger: false });

function incoming(request: FastifyRequest): IncomingRequest {
  return {
    requestId: request.id,
    id: "",
    queryString: "",
    clientAddress: request.ip,
    header: (name) => String(request.headers[name] ?? ""),
    body: () => Promise.reject(new Error("no body is read")),
    bodyBelongsTo: () => undefined,
    alone: () => Promise.resolve(),
    signal: new AbortController().signal,
  };
}

for (const id of MEASURED) {
  const route: Route = ROUTES[id];
  // As where the server registers it: the pairing is checked by the routes' own types.
  const handler = handlers[id] as unknown as AnyHandler;
  app.get(route.path, async (request, reply) => {
    reply.headers(HEADERS).header("x-request-id", request.id);
    if (route.auth === "public") return handler(anonymous);
    const identity = await authentication.identify(incoming(request), new URLSearchParams());
    if (limiter.take(limitKey(identity)) > 0) throw new Error("over the limit");
    requireAccess(identity, route.auth);
    const query = route.query && validated(route.query, { ...Object(request.query) }, "query");
    const { id = "" } = v.parse(Parameters, request.params);
    return handler({ ...anonymous, id, query, tenant: identity.tenant, user: identity.user });
  });
}

const anonymous = {
  id: "",
  idempotency: undefined,
  query: undefined,
  body: undefined,
  tenant: undefined,
  user: undefined,
  signal: new AbortController().signal,
};

process.once("SIGTERM", () => {
  void app.close().then(() => database.close());
});
const address = await app.listen({ host: "127.0.0.1", port: 0 });
console.log(`reference listens on ${address}`);
