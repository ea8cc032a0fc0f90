import * as v from "valibot";
import type { HttpTool } from "../../storage/tenancy/agent-tool.js";
import { toolArguments } from "../conversation/toolbox.js";
import { VendorError, type VendorFault } from "../vendors/contracts.js";
import { ShareUsedUpError } from "../vendors/transport/organization-connections.js";
import type { VendorContext } from "../vendors/vendor-settings.js";
import { requestTool, type ToolAnswer } from "./tool-request.js";

export interface HttpToolCall {
  readonly tool: HttpTool;
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
    end = await connections.toolTurns.begin(call.orgId, AbortSignal.any([signal, late.signal]));
  } catch (error) {
    if (signal.aborted) throw new VendorError("tool", "aborted", "tool: aborted");
    const fault = error instanceof ShareUsedUpError ? "unavailable" : "timeout";
    return failed(fault, SHARE_USED_UP);
  } finally {
    cancel();
  }
  const leftMs = Math.max(1, timeoutMs - (clock.monotonicMs() - startedMs));
  return askService(call, leftMs, context, signal).finally(end);
}

async function askService(
  { tool, headers, argumentsJson, orgId }: HttpToolCall,
  timeoutMs: number,
  context: VendorContext,
  signal: AbortSignal,
): Promise<HttpToolResult> {
  const checked = toolArguments(argumentsJson, tool.parameters);
  if (!checked.ok) return failed("badArguments", checked.error);
  const { url, method } = tool;
  const request = { url, method, headers, timeoutMs, orgId, arguments: checked.arguments };
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
