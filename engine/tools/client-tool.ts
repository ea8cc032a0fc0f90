import type { ClientTool } from "../../storage/tenancy/agent-tool.js";
import type { CallerChannel } from "../conversation/caller-channel.js";
import { type ToolOutcome, toolArguments } from "../conversation/toolbox.js";
import type { Clock } from "../time/clock.js";

export interface ClientToolUse {
  readonly tool: ClientTool;
  /** The arguments as the model wrote them. */
  readonly argumentsJson: string;
}

/** Has the caller's client do it. Whatever goes wrong is told in the result; rejects only when aborted. */
export async function runClientTool(
  { tool, argumentsJson }: ClientToolUse,
  caller: Pick<CallerChannel, "useTool">,
  clock: Clock,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  const { name, parameters, timeoutMs } = tool;
  const checked = toolArguments(argumentsJson, parameters);
  if (!checked.ok) return failed(checked.error);
  const late = new AbortController();
  const cancel = clock.after(timeoutMs, () => late.abort());
  try {
    const call = { name, arguments: checked.arguments };
    const answer = await caller.useTool(call, AbortSignal.any([signal, late.signal]));
    if ("error" in answer) return failed(answer.error);
    return { content: JSON.stringify({ ok: true, result: answer.result }) };
  } catch (error) {
    if (signal.aborted || !late.signal.aborted) throw error;
    return failed("the caller's page did not answer in time: it may have been done, or not");
  } finally {
    cancel();
  }
}

function failed(error: string): ToolOutcome {
  return { content: JSON.stringify({ ok: false, error }) };
}
