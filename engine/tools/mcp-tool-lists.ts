import { createHash } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import type { McpServer } from "../../storage/tenancy/mcp-server.js";
import { type ToolOutcome, toolArguments } from "../conversation/toolbox.js";
import { FairCache } from "../fair-cache.js";
import type { Logger } from "../log.js";
import type { McpSecrets } from "../tenancy/agents/agent-mcp.js";
import type { CancelTimer, Clock } from "../time/clock.js";
import { VendorError, type VendorFault } from "../vendors/contracts.js";
import { ShareUsedUpError } from "../vendors/transport/organization-connections.js";
import type { VendorContext } from "../vendors/vendor-settings.js";
import {
  callMcpTool,
  listMcpTools,
  type McpEndpoint,
  type McpEra,
  type McpListedTool,
  McpProtocolError,
  McpStatusError,
  type McpToolPages,
  type McpToolRequest,
  type McpToolResult,
  requestMcpToken,
} from "./mcp-client.js";
import { type McpHeaderParameter, mcpHeaders } from "./mcp-headers.js";
import { knownMcpTool, type McpKnownTool, type McpOfferedTool } from "./mcp-offer.js";
import { fixedHeaders } from "./tool-texts.js";

/** Lists of all organizations together, as the server sent them. */
const KEPT_MAX_BYTES = 32 * 1024 * 1024;
const ENTRY_MIN_BYTES = 2_000;
/** A list is asked for again after the server's hint, within these bounds. */
const TTL_MIN_MS = 60_000;
/** How often it is looked at which lists are old. */
const REFRESH_EVERY_MS = TTL_MIN_MS / 2;
const TTL_MAX_MS = 60 * 60_000;
const TTL_DEFAULT_MS = 5 * 60_000;
/** A list that no call has used for this long is refreshed once an hour. */
const IDLE_AFTER_MS = 60 * 60_000;
const IDLE_REFRESH_MS = 60 * 60_000;
/** A list that no call has used for this long is dropped, so that an agent with a call a week does not start cold. */
const UNUSED_MAX_MS = 8 * 24 * 60 * 60_000;
/** A list that could not be read is requested again after this, and after twice as long each time up to the limit. */
const RETRY_FIRST_MS = 1_000;
const RETRY_MAX_MS = 30_000;
/** Retries end when no LLM request of any call has wanted the list for this long. */
const WANTED_MAX_MS = 2 * 60_000;
/** A server that spoke an older revision is asked again after so long what it speaks. */
const LEGACY_MAX_MS = 24 * 60 * 60_000;
const LIST_TIMEOUT_MS = 10_000;
const TOKEN_TIMEOUT_MS = 5_000;
/** Tokens are renewed this long before they end. */
const TOKEN_MARGIN_MS = 30_000;
const TOKEN_DEFAULT_SEC = 300;
const TOOLS_PER_LOOP_TURN = 25;
const ERROR_MAX_CHARACTERS = 1_000;

export type McpOperation = "list" | "call" | "token";
export type McpRequestOutcome = "ok" | "error" | VendorFault;

/** A server of an agent, with its secrets opened. */
export interface OpenMcpServer {
  readonly server: McpServer;
  readonly secrets: McpSecrets;
  readonly orgId: string;
}

/** What is known of a server's tools just now. */
export interface McpListState {
  readonly tools: readonly McpKnownTool[] | undefined;
  /** The server has more tools than are read. */
  readonly isCut: boolean;
  readonly protocolVersion: string | undefined;
  readonly fetchedAtMs: number | undefined;
  /** Why the newest attempt failed, in words for the agent's author; undefined where it did not. */
  readonly error: string | undefined;
}

export interface McpToolListsOptions {
  readonly context: VendorContext;
  readonly log: Logger;
  readonly onRequest?: (operation: McpOperation, outcome: McpRequestOutcome, ms: number) => void;
}

interface Token {
  readonly value: string;
  readonly endsAtMs: number;
}

interface List extends Pick<McpToolPages, "isCut" | "protocolVersion" | "ttlMs" | "sizeBytes"> {
  readonly tools: readonly McpKnownTool[];
  /** By the wall clock, to be shown. */
  readonly fetchedAtMs: number;
  readonly atMs: number;
}

interface Entry {
  readonly open: OpenMcpServer;
  readonly key: string;
  list: List | undefined;
  /** Undefined where it has to be asked what the server speaks. */
  era: { readonly value: McpEra; readonly atMs: number } | undefined;
  token: Token | undefined;
  tokenRequest: Promise<Token> | undefined;
  listing: Promise<void> | undefined;
  failure:
    | { readonly error: string; readonly fault: VendorFault; readonly atMs: number }
    | undefined;
  /** Failures without a list so far. */
  failureCount: number;
  /** Stops the retry that is due; undefined without one. */
  cancelRetry: CancelTimer | undefined;
  usedAtMs: number;
}

/**
 * The tool lists of MCP servers, kept for each server and credential. A call never waits for one: a list that is not known yet is
 * requested beside the call, and one in use is refreshed before it is too old.
 */
export class McpToolLists {
  readonly #options: McpToolListsOptions;
  readonly #clock: Clock;
  readonly #entries = new FairCache<Entry>({
    sizeMax: KEPT_MAX_BYTES,
    sizeOf: ({ list }) => ENTRY_MIN_BYTES + (list?.sizeBytes ?? 0),
  });
  readonly #refreshed = new Set<Entry>();
  readonly #closed = new AbortController();

  constructor(options: McpToolListsOptions) {
    this.#options = options;
    this.#clock = options.context.clock;
    const cancel = this.#clock.every(REFRESH_EVERY_MS, () => this.#refreshOld());
    this.#closed.signal.addEventListener("abort", cancel);
  }

  /** Stops all requests. */
  close(): void {
    this.#closed.abort();
    for (const entry of this.#refreshed) stopRetry(entry);
  }

  /** What is known, at once. A list that is not known yet is requested, and again until it arrives while calls ask for it. */
  peek(open: OpenMcpServer): readonly McpKnownTool[] | undefined {
    const entry = this.#entry(open);
    const { list, failure } = entry;
    if (list !== undefined) {
      // Only a list that no call has used for long is so old: its server may have changed, and its token have ended.
      const nowMs = this.#now();
      const isOld = nowMs - list.atMs > ttlOf(list);
      if (isOld && nowMs - (failure?.atMs ?? -RETRY_MAX_MS) >= RETRY_MAX_MS) void this.#list(entry);
      return list.tools;
    }
    if (entry.cancelRetry === undefined) void this.#list(entry);
    return undefined;
  }

  /** Requests the list where it is not known, or where `refresh` asks for it anew. Never rejects. */
  async read(open: OpenMcpServer, refresh: boolean): Promise<McpListState> {
    const entry = this.#entry(open);
    if (refresh || entry.list === undefined) await this.#list(entry);
    const { list, failure } = entry;
    return {
      tools: list?.tools,
      isCut: list?.isCut ?? false,
      protocolVersion: list?.protocolVersion,
      fetchedAtMs: list?.fetchedAtMs,
      error: failure?.error,
    };
  }

  /** The token that was obtained for the server; undefined without one. */
  tokenOf(open: OpenMcpServer): string | undefined {
    return this.#entries.peek(open.orgId, keyOf(open))?.token?.value;
  }

  /** Has a tool do its work. Whatever goes wrong is in the result; rejects only when aborted. */
  async call(
    tool: McpOfferedTool,
    open: OpenMcpServer,
    call: {
      readonly argumentsJson: string;
      readonly idempotencyKey: string | undefined;
      /** The server's headers with values of the call: they are no part of the list, which calls share. */
      readonly headers?: Readonly<Record<string, string>>;
    },
    signal: AbortSignal,
  ): Promise<ToolOutcome> {
    const checked = toolArguments(call.argumentsJson, tool.schema);
    if (!checked.ok) return misused(checked.error);
    const entry = this.#entry(open);
    const { timeoutMs } = tool.server;
    const { toolTurns } = this.#options.context.connections;
    const startedMs = this.#now();
    const late = new AbortController();
    const cancel = this.#clock.after(timeoutMs, () => late.abort());
    const until = AbortSignal.any([signal, late.signal]);
    let end: (() => void) | undefined;
    try {
      end = await toolTurns.acquire(open.orgId, until);
      const request = { name: tool.name, arguments: checked.arguments, timeoutMs };
      const { idempotencyKey, headers } = call;
      const own = { ...(idempotencyKey && { "idempotency-key": idempotencyKey }), ...headers };
      const result = await this.#calledWithHeaders(entry, tool, request, own, until);
      if ("misuse" in result) return misused(result.misuse);
      this.#note("call", result.ok ? "ok" : "error", startedMs);
      if (result.ok) return { content: JSON.stringify(result) };
      return failed(result.error.slice(0, ERROR_MAX_CHARACTERS));
    } catch (error) {
      if (signal.aborted) throw new VendorError("mcp", "aborted", "mcp: aborted");
      const fault = late.signal.aborted ? "timeout" : faultOf(error);
      this.#note("call", fault, startedMs);
      return failed(toolFailure(error, fault));
    } finally {
      cancel();
      end?.();
    }
  }

  /**
   * The arguments that the tool's schema marks are in headers too. A server that refuses them has another schema by now: it
   * is asked for its list, and once more for the tool.
   */
  async #calledWithHeaders(
    entry: Entry,
    { name, headers: marked }: Pick<McpOfferedTool, "name" | "headers">,
    request: Omit<McpToolRequest, "headers">,
    callHeaders: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<McpToolResult | { readonly misuse: string }> {
    const attempt = async (parameters: readonly McpHeaderParameter[]) => {
      const made = mcpHeaders(parameters, request.arguments);
      if (!made.ok) return { misuse: made.error };
      const { headers } = made;
      return this.#called(entry, { ...request, headers }, callHeaders, signal);
    };
    try {
      return await attempt(marked);
    } catch (error) {
      if (!(error instanceof McpStatusError && error.isAboutHeaders)) throw error;
      await untilAborted(this.#list(entry), signal);
      const listed = entry.list?.tools.find((tool) => tool.name === name);
      if (listed === undefined || !("headers" in listed)) throw error;
      return attempt(listed.headers);
    }
  }

  /** One request, where token and era are known. What a server refused before it began is asked once more with new ones. */
  async #called(
    entry: Entry,
    request: McpToolRequest,
    callHeaders: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ) {
    const { context } = this.#options;
    const attempt = async () => {
      const { url, orgId, headers } = await this.#endpoint(entry, signal);
      const endpoint = { url, orgId, headers: { ...callHeaders, ...headers } };
      const { result, era } = await callMcpTool(
        endpoint,
        entry.era?.value,
        request,
        context,
        signal,
      );
      entry.era ??= { value: era, atMs: this.#now() };
      return result;
    };
    return retriedOnce(entry, attempt, (error) => error.isAboutSession);
  }

  #entry(open: OpenMcpServer): Entry {
    const key = keyOf(open);
    const known = this.#entries.get(open.orgId, key);
    const nowMs = this.#now();
    if (known !== undefined) {
      known.usedAtMs = nowMs;
      return known;
    }
    const entry: Entry = {
      open,
      key,
      list: undefined,
      era: undefined,
      token: undefined,
      tokenRequest: undefined,
      listing: undefined,
      failure: undefined,
      failureCount: 0,
      cancelRetry: undefined,
      usedAtMs: nowMs,
    };
    this.#entries.set(open.orgId, key, entry);
    this.#refreshed.add(entry);
    return entry;
  }

  /** Off the path of calls: lists that calls use are asked for again before they are too old, and so are tokens. */
  #refreshOld(): void {
    const nowMs = this.#now();
    for (const entry of this.#refreshed) {
      const { open, key, list, token } = entry;
      const isUnused = nowMs - entry.usedAtMs > UNUSED_MAX_MS;
      if (isUnused) this.#entries.delete(open.orgId, key);
      if (isUnused || this.#entries.peek(open.orgId, key) !== entry) {
        this.#refreshed.delete(entry);
        stopRetry(entry);
        continue;
      }
      if (list === undefined) continue;
      const isIdle = nowMs - entry.usedAtMs > IDLE_AFTER_MS;
      const refreshMs = isIdle ? IDLE_REFRESH_MS : ttlOf(list);
      const isOld = nowMs - list.atMs >= refreshMs - REFRESH_EVERY_MS;
      const isTokenOld = token !== undefined && token.endsAtMs - nowMs < REFRESH_EVERY_MS;
      if (isTokenOld) entry.token = undefined;
      if (isOld || (isTokenOld && !isIdle)) void this.#list(entry);
    }
  }

  /** Never rejects; what went wrong is in `failure`. One at a time for each server and credential. */
  #list(entry: Entry): Promise<void> {
    stopRetry(entry);
    entry.listing ??= this.#listed(entry).finally(() => {
      entry.listing = undefined;
    });
    return entry.listing;
  }

  #retryLater(entry: Entry): void {
    const delayMs = Math.min(RETRY_MAX_MS, RETRY_FIRST_MS * 2 ** entry.failureCount);
    entry.failureCount += 1;
    entry.cancelRetry = this.#clock.after(delayMs, () => {
      entry.cancelRetry = undefined;
      const isWanted = this.#now() - entry.usedAtMs <= WANTED_MAX_MS;
      const isKept = this.#entries.peek(entry.open.orgId, entry.key) === entry;
      if (isWanted && isKept) void this.#list(entry);
    });
  }

  async #listed(entry: Entry): Promise<void> {
    const { context, log } = this.#options;
    const { signal } = this.#closed;
    const startedMs = this.#now();
    try {
      const request = async () => {
        const endpoint = await this.#endpoint(entry, signal);
        const known = entry.era;
        const isDated = known?.value.kind === "legacy" && startedMs - known.atMs > LEGACY_MAX_MS;
        const era = isDated ? undefined : known?.value;
        const pages = await listMcpTools(endpoint, era, context, LIST_TIMEOUT_MS, signal);
        return { era, pages };
      };
      const { era, pages } = await retriedOnce(entry, request, () => true);
      const { tools, isCut, protocolVersion, ttlMs, sizeBytes } = pages;
      const atMs = this.#now();
      if (era === undefined) entry.era = { value: pages.era, atMs };
      const shown = {
        isCut,
        protocolVersion,
        ttlMs,
        sizeBytes,
        fetchedAtMs: this.#clock.epochMs(),
      };
      const { kind } = entry.era?.value ?? pages.era;
      entry.list = { ...shown, tools: await knownTools(tools, kind), atMs };
      entry.failure = undefined;
      entry.failureCount = 0;
      this.#note("list", "ok", startedMs);
      // Its size is another one now. One that was evicted meanwhile stays out: no refresh knows it.
      if (this.#entries.peek(entry.open.orgId, entry.key) === entry) {
        this.#entries.set(entry.open.orgId, entry.key, entry);
      }
    } catch (error) {
      const fault = faultOf(error);
      this.#note("list", fault, startedMs);
      const { orgId, server } = entry.open;
      const isKnown = entry.failure?.fault === fault;
      entry.failure = { error: explanation(error, fault), fault, atMs: this.#now() };
      entry.era = undefined;
      if (error instanceof VendorError && error.status === 401) entry.token = undefined;
      if (signal.aborted) return;
      if (entry.list === undefined) this.#retryLater(entry);
      // One line for an outage, however often it is retried.
      if (isKnown) return;
      const about = { orgId, mcpServer: server.name, fault };
      log.warn(about, "the tools of an MCP server could not be listed");
    }
  }

  async #endpoint(entry: Entry, signal: AbortSignal): Promise<McpEndpoint> {
    const { server, secrets, orgId } = entry.open;
    const { url, auth } = server;
    const { secret } = secrets;
    const headers = fixedHeaders(secrets.headers);
    if (auth.type === "none") return { url, headers, orgId };
    const token = auth.type === "bearer" ? secret : (await this.#token(entry, signal)).value;
    return { url, orgId, headers: { ...headers, authorization: `Bearer ${token}` } };
  }

  /** Shared by all that wait for it; the work of one that is aborted goes on for the others. */
  async #token(entry: Entry, signal: AbortSignal): Promise<Token> {
    const { token } = entry;
    if (token !== undefined && token.endsAtMs > this.#now()) return token;
    entry.tokenRequest ??= this.#requestToken(entry).finally(() => {
      entry.tokenRequest = undefined;
    });
    return untilAborted(entry.tokenRequest, signal);
  }

  async #requestToken(entry: Entry): Promise<Token> {
    const { server, secrets, orgId } = entry.open;
    const { auth } = server;
    if (auth.type !== "clientCredentials") throw new VendorError("mcp", "refused", "mcp: no token");
    const { tokenUrl, clientId, scope } = auth;
    const startedMs = this.#now();
    try {
      const { token, expiresInSec = TOKEN_DEFAULT_SEC } = await requestMcpToken(
        {
          tokenUrl,
          clientId,
          clientSecret: secrets.secret ?? "",
          scope,
          orgId,
          timeoutMs: TOKEN_TIMEOUT_MS,
        },
        this.#options.context,
        this.#closed.signal,
      );
      this.#note("token", "ok", startedMs);
      const livesMs = Math.max(0, expiresInSec * 1_000 - TOKEN_MARGIN_MS);
      entry.token = { value: token, endsAtMs: this.#now() + livesMs };
      return entry.token;
    } catch (error) {
      this.#note("token", faultOf(error), startedMs);
      throw error;
    }
  }

  #note(operation: McpOperation, outcome: McpRequestOutcome, startedMs: number): void {
    this.#options.onRequest?.(operation, outcome, this.#now() - startedMs);
  }

  #now(): number {
    return this.#clock.monotonicMs();
  }
}

function stopRetry(entry: Entry): void {
  entry.cancelRetry?.();
  entry.cancelRetry = undefined;
}

/**
 * A token that has ended early, or a session that an older server has forgotten: the request has done nothing, and can
 * be made again. `isSessionOver` decides what a 400 to a request with a session means.
 */
async function retriedOnce<Result>(
  entry: Entry,
  attempt: () => Promise<Result>,
  isSessionOver: (error: McpStatusError) => boolean,
): Promise<Result> {
  try {
    return await attempt();
  } catch (error) {
    if (!isUnstarted(entry, error, isSessionOver)) throw error;
    return attempt();
  }
}

function isUnstarted(
  entry: Entry,
  error: unknown,
  isSessionOver: (error: McpStatusError) => boolean,
): boolean {
  if (!(error instanceof VendorError)) return false;
  if (error.status === 401 && entry.open.server.auth.type === "clientCredentials") {
    entry.token = undefined;
    return true;
  }
  const era = entry.era?.value;
  if (era?.kind !== "legacy") return false;
  // The specification's status for a session that has ended is 404; servers made from the official examples answer 400.
  const isForgotten =
    error instanceof McpStatusError &&
    error.status === 400 &&
    era.sessionId !== undefined &&
    isSessionOver(error);
  if (error.status !== 404 && !isForgotten) return false;
  entry.era = undefined;
  return true;
}

/** A few at a time between two rounds of the event loop: a schema takes some 30 µs, and a list may have a thousand. */
async function knownTools(
  listed: readonly McpListedTool[],
  era: McpEra["kind"],
): Promise<readonly McpKnownTool[]> {
  const known: McpKnownTool[] = [];
  for (const tool of listed) {
    known.push(knownMcpTool(tool, era));
    if (known.length % TOOLS_PER_LOOP_TURN === 0) await setImmediate();
  }
  return known;
}

function ttlOf({ ttlMs }: Pick<McpToolPages, "ttlMs">): number {
  // A hint of 0 says that the server does not know.
  const hintMs = ttlMs === undefined || ttlMs <= 0 ? TTL_DEFAULT_MS : ttlMs;
  return Math.min(TTL_MAX_MS, Math.max(TTL_MIN_MS, hintMs));
}

function keyOf({ server: { url, auth }, secrets }: OpenMcpServer): string {
  return createHash("sha256")
    .update(JSON.stringify([url, auth, secrets]))
    .digest("base64");
}

function faultOf(error: unknown): VendorFault {
  if (error instanceof VendorError) return error.fault;
  return error instanceof ShareUsedUpError ? "unavailable" : "badAnswer";
}

const EXPLANATIONS: Partial<Record<VendorFault, string>> = {
  timeout: "the server did not answer in time",
  unauthorized: "the server did not accept the credentials",
  badAnswer: "the server's answer could not be used",
};

function explanation(error: unknown, fault: VendorFault): string {
  if (
    error instanceof VendorError &&
    error.cause instanceof Error &&
    error.cause.name === "PrivateAddressError"
  ) {
    return "the server may not be reached from here: its address is private";
  }
  const message = error instanceof VendorError ? error.message.replace(/^mcp: /, "") : "";
  const sentence = EXPLANATIONS[fault] ?? "the server could not be reached";
  return message === "" ? sentence : `${sentence}: ${message}`;
}

function toolFailure(error: unknown, fault: VendorFault): string {
  if (error instanceof McpProtocolError)
    return (error.vendorText ?? "").slice(0, ERROR_MAX_CHARACTERS);
  if (error instanceof ShareUsedUpError) return "too many services are asked at the same time";
  if (fault === "timeout") {
    return "the service did not answer in time: it may have been done, or not";
  }
  return EXPLANATIONS[fault] ?? "the service could not be reached";
}

function failed(error: string): ToolOutcome {
  return { ...misused(error), isFailed: true };
}

/** The LLM may try again with other arguments: no failure of the tool. */
function misused(error: string): ToolOutcome {
  return { content: JSON.stringify({ ok: false, error }) };
}

function untilAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(new VendorError("mcp", "aborted", "mcp: aborted"));
    if (signal.aborted) giveUp();
    signal.addEventListener("abort", giveUp, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", giveUp));
  });
}
