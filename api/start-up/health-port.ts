import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { RequestErrorCode } from "../../storage/parley-error.js";
import { STATUS_BY_CODE } from "../http/answer/http-error.js";
import { portOf } from "../http/backend/node-backend.js";
import { cannotListen, ListenError } from "../http/server.js";

/** All that this port answers; both come from the server itself. */
const PATHS: ReadonlySet<string> = new Set(["/api/health", "/api/ready"]);
/** More clients at once than any number of balancers; further connections are closed. */
const CONNECTIONS_MAX = 64;
/** A client has this long to send its request, and the server to answer it. */
const REQUEST_MAX_MS = 5_000;
const ANSWER_MAX_MS = 5_000;

export interface HealthPortOptions {
  readonly host: string;
  /** 0: the system chooses. */
  readonly port: number;
  /** Where the server listens, as seen from this process. */
  readonly serverUrl: string;
}

export interface HealthPort {
  readonly port: number;
  close(): void;
}

/**
 * Answers `GET /api/health` and `GET /api/ready` on a port of its own, also to HTTP/1.0, which the server's own port refuses. The
 * answers are the server's; where it gives none within five seconds, the answer is 503. Rejects with ListenError.
 */
export async function openHealthPort(options: HealthPortOptions): Promise<HealthPort> {
  const { host, port, serverUrl } = options;
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS_MAX });
  const limits = { headersTimeout: REQUEST_MAX_MS, requestTimeout: REQUEST_MAX_MS };
  const server = createServer({ ...limits, requireHostHeader: false }, (incoming, answer) => {
    incoming.resume();
    const fault = faultOf(incoming);
    if (fault !== undefined) send(answer, fault);
    else passOn(`${serverUrl}${incoming.url}`, agent, answer);
  });
  server.maxConnections = CONNECTIONS_MAX;
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause) => {
      reject(new ListenError(cannotListen(host, port, "HEALTH_PORT"), { cause }));
    });
    server.listen(port, host, resolve);
  });
  return {
    port: portOf(server.address()) ?? port,
    close: () => {
      server.close();
      server.closeAllConnections();
      agent.destroy();
    },
  };
}

interface Refusal {
  readonly error: string;
  readonly code: RequestErrorCode;
}

function faultOf({ url = "", method }: IncomingMessage): Refusal | undefined {
  if (!PATHS.has(url))
    return { code: "path_not_found", error: "expected /api/health or /api/ready" };
  if (method !== "GET") return { code: "method_not_allowed", error: "expected GET" };
  return undefined;
}

function passOn(url: string, agent: Agent, answer: ServerResponse): void {
  const asked = request(url, { agent, timeout: ANSWER_MAX_MS }, (own) => {
    const { statusCode = 502, headers } = own;
    const { "content-type": type = "application/json", "retry-after": retryAfter } = headers;
    const chunks: Buffer[] = [];
    own.on("data", (chunk: Buffer) => chunks.push(chunk));
    own.on("end", () => {
      const body = Buffer.concat(chunks);
      if (retryAfter !== undefined) answer.setHeader("retry-after", retryAfter);
      answer.writeHead(statusCode, { "content-type": type, "content-length": body.byteLength });
      answer.end(body);
    });
    own.on("error", () => answer.destroy());
  });
  asked.on("timeout", () => asked.destroy());
  asked.on("error", () => {
    if (!answer.headersSent)
      send(answer, { code: "unavailable", error: "the server does not answer" });
  });
  answer.on("close", () => asked.destroy());
  asked.end();
}

function send(answer: ServerResponse, refusal: Refusal): void {
  const body = JSON.stringify(refusal);
  const length = Buffer.byteLength(body);
  answer.writeHead(STATUS_BY_CODE[refusal.code], {
    "content-type": "application/json",
    "content-length": length,
  });
  answer.end(body);
}
