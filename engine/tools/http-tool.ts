import * as v from "valibot";
import type { JsonObject } from "../../storage/records.js";
import type { HttpTool } from "../../storage/tenancy/agent-tool.js";
import { toolArguments } from "../conversation/toolbox.js";
import { VendorError, type VendorFault } from "../vendors/contracts.js";
import {
  type MethodRequest,
  type RefusedAnswer,
  requestStream,
} from "../vendors/transport/http-stream.js";
import { ShareUsedUpError } from "../vendors/transport/organization-connections.js";
import { type AnswerHeaders, faultOfStatus, headerOf } from "../vendors/vendor-fault.js";
import type { VendorContext } from "../vendors/vendor-settings.js";

/** Some 4,000 tokens: a model would read more only to the caller's boredom. The rest is cut off. */
const TOOL_ANSWER_MAX_BYTES = 16 * 1024;
/** How errors name the service that a tool reaches. */
const VENDOR = "tool";

export interface ToolRequest {
  readonly url: string;
  /** The arguments are the body of a POST, as JSON, and are added to the query of a GET. */
  readonly method: "GET" | "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly arguments: JsonObject;
  /** From the request to the last byte of the answer. */
  readonly timeoutMs: number;
  /** Whose share of connections it takes. */
  readonly orgId?: string;
}

export interface ToolAnswer {
  readonly status: number;
  /** Empty when the answer is no text. */
  readonly body: string;
  /** Whether there was more than is kept. */
  readonly cut: boolean;
}

/**
 * Asks a service that an organization has named, through the dispatcher that refuses private addresses. Redirects are not
 * followed. Resolves with any answer, whatever its status; rejects with a VendorError when none came in time, and with
 * the fault `aborted` when aborted. Nothing of the request or the answer is in its message.
 */
export async function requestTool(
  request: ToolRequest,
  { clock, connections }: VendorContext,
  signal: AbortSignal,
): Promise<ToolAnswer> {
  const { timeoutMs } = request;
  const answer = new BoundedAnswer();
  try {
    await requestStream(
      {
        ...wireForm(request),
        vendor: VENDOR,
        dispatcher: connections.for(true, request.orgId),
        clock,
        limits: {
          firstByteMs: timeoutMs,
          betweenBytesMs: timeoutMs,
          totalMs: timeoutMs,
          // Reading ends with the piece that is beyond what is kept.
          replyMaxBytes: Number.POSITIVE_INFINITY,
        },
        accept: (headers, status) => answer.start(headers, status),
        refuse: (refused) => answer.refuse(refused),
      },
      (chunk) => answer.write(chunk),
      signal,
    );
  } catch (error) {
    if (error !== answer.refusal) throw error;
  }
  return answer.finished();
}

function wireForm({ url, method, headers, arguments: given }: ToolRequest) {
  const target = new URL(url);
  const isPost = method === "POST";
  if (!isPost) {
    for (const [name, value] of Object.entries(given)) {
      target.searchParams.append(name, textOf(value));
    }
  }
  return {
    method,
    origin: target.origin,
    path: `${target.pathname}${target.search}`,
    headers: {
      accept: "application/json, text/plain;q=0.9, */*;q=0.1",
      "user-agent": "Parley",
      ...(isPost ? { "content-type": "application/json" } : {}),
      ...headers,
    },
    body: isPost ? JSON.stringify(given) : undefined,
  } satisfies Partial<MethodRequest>;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Keeps the beginning of an answer. */
class BoundedAnswer {
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  #cut = false;
  #status = 0;
  #isText = true;
  #refusal: VendorError | undefined;

  /** What the request fails with although there is an answer: it has a status that is no success. */
  get refusal(): VendorError | undefined {
    return this.#refusal;
  }

  start(headers: AnswerHeaders, status: number): void {
    this.#status = status;
    this.#isText = isText(headers);
  }

  /** Ending a request early refuses it a second time, by which nothing changes. */
  refuse({ status, headers, body }: RefusedAnswer): VendorError {
    if (this.#refusal !== undefined) return this.#refusal;
    this.start(headers, status);
    this.write(Buffer.from(body));
    // As much as is kept of an error: there may have been more.
    this.#cut ||= this.#bytes === TOOL_ANSWER_MAX_BYTES;
    this.#refusal = new VendorError(VENDOR, faultOfStatus(status), `${VENDOR} answered ${status}`);
    return this.#refusal;
  }

  /** Whether it is enough. */
  write(chunk: Buffer): boolean {
    this.#chunks.push(chunk.subarray(0, Math.max(0, TOOL_ANSWER_MAX_BYTES - this.#bytes)));
    this.#bytes += chunk.length;
    this.#cut = this.#bytes > TOOL_ANSWER_MAX_BYTES;
    return this.#cut;
  }

  finished(): ToolAnswer {
    if (!this.#isText) return { status: this.#status, body: "", cut: false };
    const cut = this.#cut;
    // A character that is cut in two is left out: with `stream` the decoder waits for its rest.
    const body = new TextDecoder().decode(Buffer.concat(this.#chunks), { stream: cut });
    return { status: this.#status, body, cut };
  }
}

function isText(headers: AnswerHeaders): boolean {
  const type = headerOf(headers, "content-type") ?? "text/plain";
  return /^text\/|[/+](?:json|xml|x-www-form-urlencoded)\b/i.test(type);
}

export interface HttpToolCall {
  readonly tool: HttpTool;
  /** With the values of the call in it. */
  readonly url: string;
  /** Arguments that go before those of the model. */
  readonly fixed: Readonly<Record<string, string>>;
  /** Opened: by name in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The arguments as the model wrote them. */
  readonly argumentsJson: string;
  /** Whose turn it takes. */
  readonly orgId: string;
}

export interface HttpToolResult {
  /** The service was asked and answered 2xx. */
  readonly ok: boolean;
  readonly status: number | undefined;
  /** Why there was no answer, for the log; the text of neither call nor answer is in it. */
  readonly fault: VendorFault | "badArguments" | undefined;
  /** For the model: JSON with `ok`, and `status` and `body` or else `error`. */
  readonly content: string;
  /** What is to be said as it is, when the tool's author wants that and the service gave a text. */
  readonly spoken: string | undefined;
}

const EXPLANATIONS: Partial<Record<VendorFault, string>> = {
  timeout: "the service did not answer in time",
  refused: "the service may not be reached from here",
  badAnswer: "the service answered something unreadable",
};

const SHARE_USED_UP = "too many services are asked at the same time";

const JsonText = v.pipe(v.string(), v.parseJson());

/**
 * The LLM's arguments as the service gets them: fixed parameters replace them, and for a GET so does what the address
 * contains, which the LLM must not overrule.
 */
export function sentArguments(
  { tool: { method }, url, fixed }: Pick<HttpToolCall, "tool" | "url" | "fixed">,
  given: JsonObject,
): JsonObject {
  const sent = { ...given, ...fixed };
  if (method === "POST") return sent;
  const { searchParams } = new URL(url);
  return Object.fromEntries(Object.entries(sent).filter(([name]) => !searchParams.has(name)));
}

/** Asks the service of an HTTP tool. Whatever goes wrong is told in the result; rejects only when aborted. */
export async function runHttpTool(
  call: HttpToolCall,
  context: VendorContext,
  signal: AbortSignal,
): Promise<HttpToolResult> {
  const { clock, connections } = context;
  const { timeoutMs } = call.tool;
  const startedMs = clock.monotonicMs();
  const late = new AbortController();
  const cancel = clock.after(timeoutMs, () => late.abort());
  let end: () => void;
  try {
    end = await connections.toolTurns.acquire(call.orgId, AbortSignal.any([signal, late.signal]));
  } catch (error) {
    if (signal.aborted) throw new VendorError("tool", "aborted", "tool: aborted");
    const fault = error instanceof ShareUsedUpError ? "unavailable" : "timeout";
    return failed(fault, SHARE_USED_UP);
  } finally {
    cancel();
  }
  const leftMs = Math.max(1, timeoutMs - (clock.monotonicMs() - startedMs));
  return requestService(call, leftMs, context, signal).finally(end);
}

async function requestService(
  { tool, url, fixed, headers, argumentsJson, orgId }: HttpToolCall,
  timeoutMs: number,
  context: VendorContext,
  signal: AbortSignal,
): Promise<HttpToolResult> {
  const checked = toolArguments(argumentsJson, tool.parameters);
  if (!checked.ok) return failed("badArguments", checked.error);
  const { method } = tool;
  const given = sentArguments({ tool, url, fixed }, checked.arguments);
  const request = { url, method, headers, timeoutMs, orgId, arguments: given };
  try {
    return answered(await requestTool(request, context, signal), tool.speak);
  } catch (error) {
    if (!(error instanceof VendorError) || error.fault === "aborted") throw error;
    if (error.cause instanceof ShareUsedUpError) return failed(error.fault, SHARE_USED_UP);
    return failed(error.fault, EXPLANATIONS[error.fault] ?? "the service could not be reached");
  }
}

function failed(fault: VendorFault | "badArguments", error: string): HttpToolResult {
  const content = JSON.stringify({ ok: false, error });
  return { ok: false, status: undefined, fault, content, spoken: undefined };
}

function answered({ status, body, cut }: ToolAnswer, speak: boolean): HttpToolResult {
  const ok = status >= 200 && status < 300;
  const value = cut ? body : valueOf(body);
  const note = cut ? { note: "the answer was longer and has been cut" } : {};
  const isSpoken = ok && speak && typeof value === "string" && value.trim() !== "";
  return {
    ok,
    status,
    fault: undefined,
    content: JSON.stringify({ ok, status, body: value, ...note }),
    spoken: isSpoken ? value.trim() : undefined,
  };
}

/** JSON stays JSON, since as a text within JSON it would cost the model twice as many tokens. */
function valueOf(body: string): unknown {
  const parsed = v.safeParse(JsonText, body);
  return parsed.success ? parsed.output : body;
}
