import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
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
    if (fault !== undefined) send(answer, fault.status, fault.error);
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

function faultOf({ url = "", method }: IncomingMessage) {
  if (!PATHS.has(url)) return { status: 404, error: "expected /api/health or /api/ready" };
  if (method !== "GET") return { status: 405, error: "expected GET" };
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
    if (!answer.headersSent) send(answer, 503, "the server does not answer");
  });
  answer.on("close", () => asked.destroy());
  asked.end();
}

function send(answer: ServerResponse, status: number, error: string): void {
  const body = JSON.stringify({ error });
  const length = Buffer.byteLength(body);
  answer.writeHead(status, { "content-type": "application/json", "content-length": length });
  answer.end(body);
}
