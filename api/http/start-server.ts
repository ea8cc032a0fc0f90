import type { Logger } from "../../engine/log.js";
import type { BackendChoice } from "../../engine/settings.js";
import type { Clock } from "../../engine/time/clock.js";
import { openApiJson } from "../contract/openapi/openapi-json.js";
import { ROUTES, type RouteId } from "../contract/routes/route-table.js";
import { type ApiServices, allRoutes } from "../routes/all-routes.js";
import { type Answer, JSON_TYPE } from "./answer/answer.js";
import { openBackend } from "./backend/open-backend.js";
import { type AnyHandler, ApiEndpoint, type ApiGuards } from "./endpoints/api-endpoint.js";
import { clientEndpoints } from "./endpoints/client-endpoints.js";
import { CONSOLE_PATH, consoleEndpoints } from "./endpoints/console-endpoints.js";
import { DOCS_PATH, docsEndpoints } from "./endpoints/docs-endpoints.js";
import type { Endpoint } from "./endpoints/endpoint.js";
import { Authentication } from "./request/authentication.js";
import { ClientAddresses } from "./request/client-address.js";
import { CorsPolicy } from "./request/cors.js";
import { type LimiterOf, type RateLimit, RateLimiter } from "./request/rate-limiter.js";
import { Router } from "./router.js";
import { HttpServer } from "./server.js";

export interface HttpConfig {
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
  readonly httpBackend: BackendChoice;
  /** Whether other processes of this server listen on the same port. */
  readonly sharesPort?: boolean;
  /** Addresses or CIDR blocks of trusted proxies. */
  readonly trustedProxies: readonly string[];
  /** The sub-path of PUBLIC_BASE_URL, such as `/voice`; omitted or empty if there is none. */
  readonly basePath?: string;
  /** Whether the console signs in a user with a token after the `#`, as `npm start` prints it for the demo. */
  readonly takesTokensInAddress?: boolean;
  /** Origins such as `https://app.example.com`; empty: CORS is off. */
  readonly corsOrigins: readonly string[];
  /** The limit of sign-up and sign-in, by client address. */
  readonly authLimit: RateLimit;
  /** The limit of all other requests, by API key or user, and by client address without either. */
  readonly generalLimit: RateLimit;
  /** The limit of requests that cost something at a vendor, by organization and route. */
  readonly vendorLimit: RateLimit;
}

export interface HttpParts {
  readonly config: HttpConfig;
  readonly services: ApiServices;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly newId: () => string;
  readonly isDraining: () => boolean;
  /** See `ServiceParts`. */
  readonly isDrained?: () => boolean;
  /** Whether a new call would be accepted. */
  readonly isReady: () => boolean;
  /** Why nothing can be stored; undefined if everything can. */
  readonly storeRefusal: () => string | undefined;
  /** See `ServiceParts`. */
  readonly keyRefusal?: string | undefined;
  /** Whether the sandbox replaces every vendor of the platform. */
  readonly usesSandbox?: boolean;
  /** Returns the page of `/metrics` in the text format of Prometheus. */
  readonly metricsText: () => string | Promise<string>;
  /** Counts limited uses; without it, this process counts for itself. */
  readonly limiterOf?: LimiterOf;
  /** Adds WebSockets and telephony to the REST contract. Called before the server listens. */
  readonly extend?: (server: HttpServer, edge: Router) => void | Promise<void>;
}

export interface RunningServer {
  readonly server: HttpServer;
  readonly port: number;
}

const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";
const OPENAPI_PATH = "/api/openapi.json";

export const DEFAULT_AUTH_LIMIT: RateLimit = { usesMax: 10, windowMs: 60_000 };
export const DEFAULT_GENERAL_LIMIT: RateLimit = { usesMax: 600, windowMs: 60_000 };
/** Enough for a person who tries things out, too little for a program that relies on it. */
export const DEFAULT_VENDOR_LIMIT: RateLimit = { usesMax: 20, windowMs: 60_000 };

/** A browser that opens the bare address gets the console. */
function toConsole(basePath: string): Answer {
  const consolePath = `${basePath}${CONSOLE_PATH}`;
  return {
    status: 302,
    contentType: "text/plain; charset=utf-8",
    body: `The console is at ${consolePath}, and the API is described at ${basePath}${DOCS_PATH}.\n`,
    headers: [["location", consolePath]],
  };
}

/** Serves the REST API. Rejects if the address is unavailable, or a trusted proxy is invalid. */
export async function startServer(parts: HttpParts): Promise<RunningServer> {
  const { config, clock, services } = parts;
  const front = await openBackend(config.httpBackend, parts.logger);
  const server = new HttpServer(front, config);
  const edge = new Router({
    ...parts,
    server,
    addresses: new ClientAddresses(config.trustedProxies),
    cors: new CorsPolicy(config.corsOrigins),
  });
  const limiterOf = parts.limiterOf ?? ((_name, limit) => new RateLimiter(limit, clock));
  const guards: ApiGuards = {
    authentication: new Authentication(services.accounts, services.apiKeys),
    authLimiter: limiterOf("auth", config.authLimit),
    generalLimiter: limiterOf("general", config.generalLimit),
    vendorLimiter: limiterOf("vendor", config.vendorLimit),
  };
  addRoutes(edge, parts, guards);
  addPages(edge, parts);
  await parts.extend?.(server, edge);
  return { server, port: await server.listen(config.host, config.port) };
}

function addRoutes(edge: Router, parts: HttpParts, guards: ApiGuards) {
  const handlers = allRoutes(parts.services, parts);
  for (const id of Object.keys(ROUTES) as RouteId[]) {
    // The handler's input type is what its own row of the table validates: `allRoutes` checks the pairing.
    const handler = handlers[id] as unknown as AnyHandler;
    edge.add(new ApiEndpoint(ROUTES[id], handler, guards));
  }
}

function addPages(edge: Router, { config, metricsText }: HttpParts): void {
  const { basePath = "" } = config;
  // Stored as bytes: a client that requests the document repeatedly without reading uses none of our memory.
  const json: Answer = {
    status: 200,
    contentType: JSON_TYPE,
    body: basePath === "" ? openApiJson() : servedAt(openApiJson(), basePath),
  };
  edge.add(pageEndpoint(OPENAPI_PATH, () => json));
  const ofConsole = consoleEndpoints(config.takesTokensInAddress === true, { basePath });
  const built = [...docsEndpoints(OPENAPI_PATH, { basePath }), ...clientEndpoints(), ...ofConsole];
  for (const endpoint of built) edge.add(endpoint);
  const home = toConsole(basePath);
  edge.add(pageEndpoint("/", () => home));
  const metrics = pageEndpoint("/metrics", async () => ({
    status: 200,
    contentType: METRICS_TYPE,
    body: await metricsText(),
  }));
  edge.add({ ...metrics, isLocal: true });
}

/** The OpenAPI document with the sub-path as its server. */
function servedAt(document: Buffer, basePath: string): Buffer {
  const parsed: object = JSON.parse(document.toString());
  return Buffer.from(JSON.stringify({ ...parsed, servers: [{ url: basePath }] }));
}

function pageEndpoint(path: string, answer: Endpoint["answer"]): Endpoint {
  return { method: "get", path, headerNames: [], readsBody: false, isQuiet: true, answer };
}
