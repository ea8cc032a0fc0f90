import type { Logger } from "../../engine/log.js";
import type { FrontChoice } from "../../engine/settings.js";
import type { Clock } from "../../engine/time/clock.js";
import { openApiDocument } from "../contract/openapi.js";
import { ROUTES, type RouteId } from "../contract/route-table.js";
import { type ApiServices, allRoutes } from "../routes/all-routes.js";
import { type Answer, JSON_TYPE } from "./answer.js";
import { type AnyHandler, ApiEndpoint, type ApiGuards } from "./api-endpoint.js";
import { Authentication } from "./authentication.js";
import { ClientAddresses } from "./client-address.js";
import { CorsPolicy } from "./cors.js";
import { DOCS_PATH, docsEndpoints } from "./docs-endpoints.js";
import { Edge } from "./edge.js";
import type { Endpoint } from "./endpoint.js";
import { openFront } from "./open-front.js";
import { type RateLimit, RateLimiter } from "./rate-limiter.js";
import { HttpServer } from "./server.js";

export interface HttpConfig {
  readonly host: string;
  /** 0: the system chooses. */
  readonly port: number;
  readonly httpFront: FrontChoice;
  /** Addresses or CIDR blocks. */
  readonly trustedProxies: readonly string[];
  /** Origins such as `https://app.example.com`; empty: CORS is off. */
  readonly corsOrigins: readonly string[];
  /** Sign-up and sign-in, by client address. */
  readonly authLimit: RateLimit;
  /** Everything else, by API key or user, and by client address where there is neither. */
  readonly generalLimit: RateLimit;
  /** What costs something at a vendor, by organization and route. */
  readonly vendorLimit: RateLimit;
}

export interface HttpParts {
  readonly config: HttpConfig;
  readonly services: ApiServices;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly newId: () => string;
  readonly isDraining: () => boolean;
  /** Whether a new call would be taken. */
  readonly isReady: () => boolean;
  /** The page of `/metrics` in the text format of Prometheus. */
  readonly metricsText: () => string | Promise<string>;
  /** Adds what is not of the REST contract: WebSockets and telephony. Called before the server listens. */
  readonly extend?: (server: HttpServer, edge: Edge) => void | Promise<void>;
}

export interface RunningServer {
  readonly server: HttpServer;
  readonly port: number;
}

const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";
const OPENAPI_PATH = "/api/openapi.json";

export const DEFAULT_AUTH_LIMIT: RateLimit = { usesMax: 10, windowMs: 60_000 };
export const DEFAULT_GENERAL_LIMIT: RateLimit = { usesMax: 600, windowMs: 60_000 };
/** Enough for a person who tries things, too little for a program that lives on it. */
export const DEFAULT_VENDOR_LIMIT: RateLimit = { usesMax: 20, windowMs: 60_000 };

/** Whoever opens the bare address in a browser wants to know what is there. */
const TO_DOCS: Answer = {
  status: 302,
  contentType: "text/plain; charset=utf-8",
  body: `The API is described at ${DOCS_PATH}.\n`,
  headers: [["location", DOCS_PATH]],
};

/** Serves the REST API. Rejects when the address cannot be had, or names a proxy that is none. */
export async function startServer(parts: HttpParts): Promise<RunningServer> {
  const { config, clock, services } = parts;
  const server = new HttpServer(await openFront(config.httpFront, parts.logger));
  const edge = new Edge({
    ...parts,
    server,
    addresses: new ClientAddresses(config.trustedProxies),
    cors: new CorsPolicy(config.corsOrigins),
  });
  const guards: ApiGuards = {
    authentication: new Authentication(services.accounts, services.apiKeys),
    authLimiter: new RateLimiter(config.authLimit, clock),
    generalLimiter: new RateLimiter(config.generalLimit, clock),
    vendorLimiter: new RateLimiter(config.vendorLimit, clock),
  };
  addRoutes(edge, parts, guards);
  addPages(edge, parts);
  await parts.extend?.(server, edge);
  return { server, port: await server.listen(config.host, config.port) };
}

function addRoutes(edge: Edge, parts: HttpParts, guards: ApiGuards) {
  const handlers = allRoutes(parts.services, parts);
  for (const id of Object.keys(ROUTES) as RouteId[]) {
    // What a handler expects is what its own row of the table validates: the pairing is checked in `allRoutes`.
    const handler = handlers[id] as unknown as AnyHandler;
    edge.add(new ApiEndpoint(ROUTES[id], handler, guards));
  }
}

function addPages(edge: Edge, { metricsText }: HttpParts): void {
  // As bytes: a client that asks for them over and over and does not read holds none of our memory.
  const json: Answer = {
    status: 200,
    contentType: JSON_TYPE,
    body: Buffer.from(JSON.stringify(openApiDocument())),
  };
  edge.add(pageEndpoint(OPENAPI_PATH, () => json));
  for (const endpoint of docsEndpoints(OPENAPI_PATH)) edge.add(endpoint);
  edge.add(pageEndpoint("/", () => TO_DOCS));
  edge.add(
    pageEndpoint("/metrics", async () => ({
      status: 200,
      contentType: METRICS_TYPE,
      body: await metricsText(),
    })),
  );
}

function pageEndpoint(path: string, answer: Endpoint["answer"]): Endpoint {
  return { method: "get", path, headerNames: [], readsBody: false, isQuiet: true, answer };
}
