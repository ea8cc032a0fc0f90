import type {
  Client,
  FetchLike,
  PriorDiscovery,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import * as v from "valibot";
import { isJsonObject, type JsonObject } from "../../storage/records.js";
import { VendorError, type VendorFault } from "../vendors/contracts.js";
import { requestStream } from "../vendors/transport/http-stream.js";
import { type AnswerHeaders, faultOfStatus, headerOf } from "../vendors/vendor-fault.js";
import type { VendorContext } from "../vendors/vendor-settings.js";
import { VERSION } from "../version.js";

/** How errors name an MCP server. */
const VENDOR = "mcp";
/** All pages of a list of tools together. The largest public servers have 100 to 200 KiB; to read 512 KiB takes some 5 ms of the event loop. */
export const MCP_LIST_MAX_BYTES = 512 * 1024;
/** A tool's result, pictures and what a stream says around it included. */
export const MCP_RESULT_MAX_BYTES = 256 * 1024;
/** Pages of one list. */
export const MCP_LIST_PAGES_MAX = 20;
/** Tools that are read of one server; the rest is left out. */
export const MCP_LISTED_TOOLS_MAX = 1_000;
/** What the LLM reads of a result, as of an HTTP tool's response. */
const RESULT_TEXT_MAX_CHARACTERS = 16 * 1024;
const TOKEN_ANSWER_MAX_BYTES = 64 * 1024;
/** The SDK's own timer only ends what ours has missed. */
const SDK_TIMEOUT_SLACK_MS = 1_000;
/** The transport takes a session as resumed if it has an id, and else shakes hands again: one request a tool call needs one. */
const NO_SESSION = "none";
const FORWARDED_HEADERS = ["content-type", "mcp-session-id"] as const;

export interface McpEndpoint {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Whose share of connections is used. */
  readonly orgId: string;
}

/** What a server speaks. A server of the stateless revision needs no session, an older one may have given one. */
export type McpEra =
  | { readonly kind: "modern"; readonly prior: Extract<PriorDiscovery, { kind: "modern" }> }
  | {
      readonly kind: "legacy";
      readonly protocolVersion: string;
      readonly sessionId: string | undefined;
    };

export interface McpListedTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  /** The server runs it as a task only (revision 2025-11-25), whose result is asked for later. */
  readonly needsTask: boolean;
}

export interface McpToolPages {
  readonly era: McpEra;
  readonly protocolVersion: string;
  readonly tools: readonly McpListedTool[];
  /** The server has more than are read. */
  readonly isCut: boolean;
  /** The server's hint how long the list stays the same. */
  readonly ttlMs: number | undefined;
  readonly sizeBytes: number;
}

export interface McpToolRequest {
  readonly name: string;
  readonly arguments: JsonObject;
  /** Arguments that a server of the stateless revision wants in headers too. */
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

/** For the LLM. */
export type McpToolResult =
  | { readonly ok: true; readonly result: unknown; readonly note?: string }
  | { readonly ok: false; readonly error: string };

const ListedTool = v.pipe(
  v.object({
    name: v.pipe(v.string(), v.minLength(1), v.maxLength(200)),
    description: v.optional(v.string(), ""),
    inputSchema: v.custom<JsonObject>(isJsonObject),
    execution: v.fallback(v.optional(v.object({ taskSupport: v.optional(v.string()) })), undefined),
  }),
  v.transform(({ execution, ...tool }) => ({
    ...tool,
    needsTask: execution?.taskSupport === "required",
  })),
);
const ToolPage = v.looseObject({
  tools: v.array(v.unknown()),
  nextCursor: v.optional(v.string()),
  ttlMs: v.optional(v.number()),
});
const ToolResult = v.looseObject({
  content: v.optional(v.array(v.unknown()), []),
  structuredContent: v.optional(v.unknown()),
  isError: v.optional(v.boolean(), false),
});
const TextBlock = v.object({ type: v.literal("text"), text: v.string() });
/** The LLM reads the type. */
const OtherBlock = v.object({ type: v.pipe(v.string(), v.maxLength(40)) });
const TokenAnswer = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({
    access_token: v.pipe(v.string(), v.minLength(1), v.regex(/^[\x21-\x7e]+$/)),
    expires_in: v.optional(v.pipe(v.number(), v.minValue(0))),
  }),
);

interface Limits {
  readonly timeoutMs: number;
  readonly answerMaxBytes: number;
}

/** Lists a server's tools, page by page. Rejects with a VendorError, in which nothing stands of what the server said. */
export function listMcpTools(
  endpoint: McpEndpoint,
  era: McpEra | undefined,
  context: VendorContext,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<McpToolPages> {
  const limits = { timeoutMs, answerMaxBytes: MCP_LIST_MAX_BYTES };
  return withClient({ endpoint, era, context, limits, signal }, async (session) => {
    const tools: McpListedTool[] = [];
    let cursor: string | undefined;
    let ttlMs: number | undefined;
    for (let page = 0; page < MCP_LIST_PAGES_MAX; page += 1) {
      const params = cursor === undefined ? {} : { cursor };
      const answer = await session.request("tools/list", params, ToolPage);
      ttlMs ??= answer.ttlMs;
      for (const each of answer.tools) {
        const tool = v.safeParse(ListedTool, each);
        if (tool.success) tools.push(tool.output);
      }
      cursor = answer.nextCursor;
      if (cursor === undefined || tools.length > MCP_LISTED_TOOLS_MAX) break;
    }
    return {
      era: session.era(),
      protocolVersion: session.protocolVersion(),
      tools: tools.slice(0, MCP_LISTED_TOOLS_MAX),
      isCut: cursor !== undefined || tools.length > MCP_LISTED_TOOLS_MAX,
      ttlMs,
      sizeBytes: session.receivedBytes(),
    };
  });
}

/**
 * Has a tool do its work: one request, where it is known what the server speaks. Rejects with a VendorError where the server gave no
 * answer to it.
 */
export function callMcpTool(
  endpoint: McpEndpoint,
  era: McpEra | undefined,
  { name, arguments: given, headers, timeoutMs }: McpToolRequest,
  context: VendorContext,
  signal: AbortSignal,
): Promise<{ readonly era: McpEra; readonly result: McpToolResult }> {
  const limits = { timeoutMs, answerMaxBytes: MCP_RESULT_MAX_BYTES };
  return withClient({ endpoint, era, context, limits, signal }, async (session) => {
    const params = { name, arguments: given };
    const answer = await session.request("tools/call", params, ToolResult, headers);
    return { era: session.era(), result: resultOf(answer) };
  });
}

function resultOf(answer: v.InferOutput<typeof ToolResult>): McpToolResult {
  const { content, structuredContent, isError, ...rest } = answer;
  if (rest["resultType"] === "input_required") {
    return { ok: false, error: "the tool wants to ask more than a call can answer" };
  }
  const texts = content.flatMap((block) => (v.is(TextBlock, block) ? [block.text] : []));
  const others = content.flatMap((block) =>
    v.is(OtherBlock, block) && block.type !== "text" ? [block.type] : [],
  );
  const text = texts.join("\n");
  if (isError) return { ok: false, error: cut(text) || "the tool failed" };
  const isCut = text.length > RESULT_TEXT_MAX_CHARACTERS;
  const notes = [
    ...(isCut ? ["the result was longer and has been cut"] : []),
    ...(others.length > 0 ? [`left out: ${[...new Set(others)].slice(0, 5).join(", ")}`] : []),
  ];
  const note = notes.length > 0 ? { note: notes.join("; ") } : {};
  if (text !== "") return { ok: true, result: isCut ? cut(text) : valueOf(text), ...note };
  const structured = JSON.stringify(structuredContent ?? null);
  const isLong = structured.length > RESULT_TEXT_MAX_CHARACTERS;
  return { ok: true, result: isLong ? cut(structured) : structuredContent, ...note };
}

/** A character that is cut in two is left out. */
function cut(text: string): string {
  return text.slice(0, RESULT_TEXT_MAX_CHARACTERS).replace(/[\ud800-\udbff]$/, "");
}

/** JSON stays JSON: as a text within JSON it would cost twice as many tokens. */
function valueOf(text: string): unknown {
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson()), text);
  return parsed.success ? parsed.output : text;
}

interface Session {
  request<Schema extends v.GenericSchema>(
    method: "tools/list" | "tools/call",
    params: Readonly<Record<string, unknown>>,
    schema: Schema,
    headers?: Readonly<Record<string, string>>,
  ): Promise<v.InferOutput<Schema>>;
  era(): McpEra;
  protocolVersion(): string;
  receivedBytes(): number;
}

interface Work {
  readonly endpoint: McpEndpoint;
  readonly era: McpEra | undefined;
  readonly context: VendorContext;
  readonly limits: Limits;
  readonly signal: AbortSignal;
}

/** A client of its own for each piece of work: nothing that a server sends into one can reach another. */
async function withClient<Result>(
  { endpoint, era, context, limits, signal }: Work,
  use: (session: Session) => Promise<Result>,
): Promise<Result> {
  // Loaded with the first use: most servers have no agent with an MCP server.
  const sdk = await import("@modelcontextprotocol/client");
  const over = new AbortController();
  const failures: Failures = {
    first: undefined,
    status: undefined,
    isAboutSession: false,
    isAboutHeaders: false,
  };
  const fail = (error: VendorError) => {
    failures.first ??= error;
    over.abort(failures.first);
  };
  const until = AbortSignal.any([signal, over.signal]);
  const cancel = context.clock.after(limits.timeoutMs, () =>
    fail(mcpError("timeout", "no answer in time")),
  );
  const intake = new Intake(endpoint, context, limits, failures, until);
  const transport = new sdk.StreamableHTTPClientTransport(new URL(endpoint.url), {
    fetch: intake.fetch,
    reconnectionOptions: {
      maxRetries: 0,
      initialReconnectionDelay: 1,
      maxReconnectionDelay: 1,
      reconnectionDelayGrowFactor: 1,
    },
    ...(era?.kind === "legacy" && {
      sessionId: era.sessionId ?? NO_SESSION,
      protocolVersion: era.protocolVersion,
    }),
  });
  const client = new sdk.Client(
    { name: "Parley", version: VERSION },
    { versionNegotiation: { mode: "auto" } },
  );
  client.onerror = () => {
    // A status that is no success is thrown besides, and says more.
    if (failures.status === undefined) fail(mcpError("badAnswer", "the answer could not be used"));
  };
  // The SDK calls progress that was not requested an error; the answer may still follow.
  client.setNotificationHandler("notifications/progress", () => undefined);
  const timeout = limits.timeoutMs + SDK_TIMEOUT_SLACK_MS;
  const options = { signal: until, timeout };
  try {
    const prior = era?.kind === "modern" ? { prior: era.prior } : {};
    await client.connect(transport, { ...options, ...prior });
    return await use({
      request: (method, params, schema, headers = {}) => {
        const own = client.getProtocolEra() === "modern" ? { headers } : {};
        return client.request({ method, params }, schema, { ...options, ...own });
      },
      era: () => era ?? eraOf(client, transport),
      protocolVersion: () => {
        const known = era?.kind === "legacy" ? era.protocolVersion : undefined;
        return known ?? client.getNegotiatedProtocolVersion() ?? "unknown";
      },
      receivedBytes: () => intake.receivedBytes,
    });
  } catch (error) {
    if (signal.aborted) throw mcpError("aborted", "aborted");
    if (failures.first !== undefined) throw failures.first;
    if (failures.status !== undefined) {
      throw statusError(failures.status, failures);
    }
    if (error instanceof sdk.ProtocolError) throw new McpProtocolError(error.code, error.message);
    throw mcpError("badAnswer", "the answer is not of the protocol");
  } finally {
    cancel();
    // What is still open, such as a stream that does not end, is closed with the client.
    client.onerror = () => undefined;
    await client.close().catch(() => undefined);
    over.abort();
  }
}

interface Failures {
  /** What ended the work, where that was not the server's own answer. */
  first: VendorError | undefined;
  /** The newest answer that was no success. */
  status: number | undefined;
  /** That answer names the session. */
  isAboutSession: boolean;
  /** That answer says that headers and body differ. */
  isAboutHeaders: boolean;
}

/** The words of servers that have forgotten a session: "No valid session ID provided", "Session not found". */
const SESSION = /\bsession(?:\b|_?id\b)/i;

/** The code of `HeaderMismatch` in an answer. */
const HEADER_MISMATCH = /"code"\s*:\s*-32020\b/;

/** Why a request was refused before anything was done. */
type RefusalReasons = Readonly<Pick<Failures, "isAboutSession" | "isAboutHeaders">>;

/** The server answered with a status that is no success. */
export class McpStatusError extends VendorError {
  /** The request was refused because of its session, before anything was done. */
  readonly isAboutSession: boolean;
  /** The same because of headers that are not those of the tool's schema: it is another one now. */
  readonly isAboutHeaders: boolean;

  constructor(fault: VendorFault, status: number, reasons: RefusalReasons) {
    super(VENDOR, fault, `mcp: status ${status}`, { status });
    this.isAboutSession = reasons.isAboutSession;
    this.isAboutHeaders = reasons.isAboutHeaders;
  }
}

/** The server understood the request and refused it. Its words are for the LLM, never for a log. */
export class McpProtocolError extends VendorError {
  readonly rpcCode: number;

  constructor(rpcCode: number, text: string) {
    super(VENDOR, "badAnswer", `mcp: the server answered with the error ${rpcCode}`, {
      vendorText: cut(text),
    });
    this.rpcCode = rpcCode;
  }
}

function eraOf(client: Client, transport: StreamableHTTPClientTransport): McpEra {
  const discover = client.getDiscoverResult();
  if (discover !== undefined) return { kind: "modern", prior: { kind: "modern", discover } };
  const protocolVersion = client.getNegotiatedProtocolVersion() ?? "2025-03-26";
  return { kind: "legacy", protocolVersion, sessionId: transport.sessionId };
}

/** The SDK's requests, through the connections that refuse private addresses. Redirects are not followed. */
class Intake {
  readonly #endpoint: McpEndpoint;
  readonly #context: VendorContext;
  readonly #limits: Limits;
  readonly #failures: Failures;
  readonly #signal: AbortSignal;
  receivedBytes = 0;

  constructor(
    endpoint: McpEndpoint,
    context: VendorContext,
    limits: Limits,
    failures: Failures,
    signal: AbortSignal,
  ) {
    this.#endpoint = endpoint;
    this.#context = context;
    this.#limits = limits;
    this.#failures = failures;
    this.#signal = signal;
  }

  readonly fetch: FetchLike = (input, init = {}) => {
    // Only an older server has a stream of its own news, or a session to end: neither is needed.
    if (init.method !== "POST") return Promise.resolve(new Response(null, { status: 405 }));
    return this.#post(new URL(input), init);
  };

  #post(target: URL, init: RequestInit): Promise<Response> {
    const { headers, orgId } = this.#endpoint;
    const { clock, connections } = this.#context;
    const { timeoutMs, answerMaxBytes } = this.#limits;
    const own = Object.fromEntries(new Headers(init.headers));
    if (own["mcp-session-id"] === NO_SESSION) delete own["mcp-session-id"];
    const signals = init.signal ? [init.signal, this.#signal] : [this.#signal];
    return new Promise((resolve, reject) => {
      let body: ReadableStreamDefaultController<Uint8Array> | undefined;
      const stream = new ReadableStream<Uint8Array>({
        start: (controller) => {
          body = controller;
        },
      });
      let refused: { readonly status: number; readonly headers: AnswerHeaders } | undefined;
      requestStream(
        {
          method: "POST",
          vendor: VENDOR,
          dispatcher: connections.for(true, orgId),
          clock,
          origin: target.origin,
          path: `${target.pathname}${target.search}`,
          headers: { "user-agent": "Parley", ...headers, ...own },
          body: typeof init.body === "string" ? init.body : undefined,
          limits: {
            firstByteMs: timeoutMs,
            betweenBytesMs: timeoutMs,
            totalMs: timeoutMs,
            replyMaxBytes: Number.POSITIVE_INFINITY,
          },
          accept: (given, status) => {
            this.#failures.status = undefined;
            resolve(answerOf(status, given, stream));
          },
          refuse: (answer) => {
            refused = answer;
            this.#failures.status = answer.status;
            this.#failures.isAboutSession = SESSION.test(answer.body);
            this.#failures.isAboutHeaders = HEADER_MISMATCH.test(answer.body);
            body?.enqueue(Buffer.from(answer.body));
            return statusError(answer.status);
          },
        },
        (chunk) => {
          this.receivedBytes += chunk.length;
          if (this.receivedBytes > answerMaxBytes) {
            throw mcpError("badAnswer", `the answer is larger than ${answerMaxBytes} bytes`);
          }
          body?.enqueue(chunk);
          return false;
        },
        AbortSignal.any(signals),
      )
        .then(
          () => body?.close(),
          (error: unknown) => {
            if (refused !== undefined && isReadRefusal(refused.status)) {
              // The SDK reads the refusal: it says which revision a server speaks.
              body?.close();
              resolve(answerOf(refused.status, refused.headers, stream));
              return;
            }
            if (error instanceof VendorError && error.fault !== "aborted")
              this.#failures.first ??= error;
            reject(error);
            body?.error(error);
          },
        )
        // The SDK may have closed the stream first.
        .catch(reject);
    });
  }
}

/** Redirects are not followed, and a `Response` has no status above 599. */
function isReadRefusal(status: number): boolean {
  return status < 300 || (status >= 400 && status <= 599);
}

function answerOf(status: number, headers: AnswerHeaders, body: ReadableStream): Response {
  const given = FORWARDED_HEADERS.flatMap((name): [string, string][] => {
    const value = headerOf(headers, name);
    return value === undefined ? [] : [[name, value]];
  });
  return new Response(status === 204 ? null : body, { status, headers: given });
}

const NO_REASONS: RefusalReasons = { isAboutSession: false, isAboutHeaders: false };

function statusError(status: number, reasons = NO_REASONS): VendorError {
  if (status >= 300 && status < 400) {
    return new VendorError(VENDOR, "refused", "mcp: the server redirects, which is not followed", {
      status,
    });
  }
  return new McpStatusError(faultOfStatus(status), status, reasons);
}

function mcpError(fault: "aborted" | "badAnswer" | "timeout", message: string): VendorError {
  return new VendorError(VENDOR, fault, `mcp: ${message}`);
}

export interface McpTokenRequest {
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scope: string | undefined;
  readonly orgId: string;
  readonly timeoutMs: number;
}

export interface McpToken {
  readonly token: string;
  /** Undefined where the server does not say. */
  readonly expiresInSec: number | undefined;
}

/** Requests a token by client credentials (RFC 6749, section 4.4). Rejects with a VendorError. */
export async function requestMcpToken(
  { tokenUrl, clientId, clientSecret, scope, orgId, timeoutMs }: McpTokenRequest,
  { clock, connections }: VendorContext,
  signal: AbortSignal,
): Promise<McpToken> {
  const target = new URL(tokenUrl);
  const form = new URLSearchParams({ grant_type: "client_credentials", ...(scope && { scope }) });
  const pair = `${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`;
  const chunks: Buffer[] = [];
  const request = {
    method: "POST",
    vendor: VENDOR,
    dispatcher: connections.for(true, orgId),
    clock,
    origin: target.origin,
    path: `${target.pathname}${target.search}`,
    headers: {
      accept: "application/json",
      authorization: `Basic ${Buffer.from(pair).toString("base64")}`,
      "content-type": "application/x-www-form-urlencoded",
      "user-agent": "Parley",
    },
    body: form.toString(),
    limits: {
      firstByteMs: timeoutMs,
      betweenBytesMs: timeoutMs,
      totalMs: timeoutMs,
      replyMaxBytes: TOKEN_ANSWER_MAX_BYTES,
    },
    refuse: ({ status }: { readonly status: number }) =>
      // 400 is what RFC 6749 has for credentials that are not accepted.
      status === 400
        ? new VendorError(VENDOR, "unauthorized", "mcp: no token", { status })
        : statusError(status),
  } as const;
  const onData = (chunk: Buffer) => chunks.push(chunk) === 0;
  await requestStream(request, onData, signal);
  const parsed = v.safeParse(TokenAnswer, Buffer.concat(chunks).toString());
  if (!parsed.success) throw mcpError("badAnswer", "the token's answer is not of OAuth 2.0");
  const { access_token: token, expires_in: expiresInSec } = parsed.output;
  return { token, expiresInSec };
}
