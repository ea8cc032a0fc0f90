import type { AgentRecord } from "../../storage/records.js";
import type { AgentTool } from "../../storage/tenancy/agent-tool.js";
import type { CallerChannel } from "../conversation/caller-channel.js";
import type { SessionTool } from "../conversation/state.js";
import { EMPTY_TOOLBOX, type Toolbox, type ToolOutcome } from "../conversation/toolbox.js";
import type { CredentialCipher } from "../security/credential-cipher.js";
import { openToolHeaders } from "../tenancy/agents/agent-tools.js";
import type { ToolCall } from "../vendors/contracts.js";
import type { VendorContext } from "../vendors/vendor-settings.js";
import { runClientTool } from "./client-tool.js";
import { runHttpTool } from "./http-tool.js";
import { digitsToSend, toolDefinitions } from "./tool-definitions.js";

/** What the session itself has to know of an agent's tools: which of them end the call. */
export function sessionTools({ tools }: AgentRecord): readonly SessionTool[] {
  return tools.map((tool) => {
    const name = nameOf(tool);
    if (tool.type === "transfer") return { kind: tool.type, name, to: tool.to };
    return { kind: tool.type, name };
  });
}

/**
 * The agent on a leg, which somebody can hand on or nobody can, with those of its transfers that lead to where callers may
 * be handed on: its model is not told of one that would be a hang-up or refused.
 */
export async function withTransfers(
  agent: AgentRecord,
  canTransfer: boolean,
  mayReach: (target: string) => boolean | Promise<boolean>,
): Promise<AgentRecord> {
  const tools: AgentTool[] = [];
  for (const tool of agent.tools) {
    if (tool.type !== "transfer" || (canTransfer && (await mayReach(tool.to)))) tools.push(tool);
  }
  return { ...agent, tools };
}

function nameOf(tool: AgentTool): string {
  return "name" in tool ? tool.name : tool.type;
}

/** The agent's tools at work. The values of their headers are opened here, when the call begins. */
export function agentToolbox(
  agent: AgentRecord,
  cipher: CredentialCipher,
  context: VendorContext,
  /** For tools that have asked for who calls whom. */
  callHeaders: Readonly<Record<string, string>> = {},
): Toolbox {
  if (agent.tools.length === 0) return EMPTY_TOOLBOX;
  const headers = openToolHeaders(agent, cipher);
  return {
    definitions: toolDefinitions(agent.tools),
    secrets: [...headers.values()].flatMap((each) => Object.values(each)),
    run: (call, caller, signal) =>
      run({ agent, headers, context, callHeaders }, call, caller, signal),
  };
}

interface ToolDeps {
  readonly agent: AgentRecord;
  readonly headers: ReturnType<typeof openToolHeaders>;
  readonly context: VendorContext;
  readonly callHeaders: Readonly<Record<string, string>>;
}

function run(
  { agent, headers, context, callHeaders }: ToolDeps,
  call: ToolCall,
  caller: CallerChannel,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  // Models make names up; what the agent does not have is not done.
  const tool = agent.tools.find((each) => nameOf(each) === call.name);
  if (tool?.type === "sendDigits") return sendDigits(call, caller);
  const { argumentsJson } = call;
  if (tool?.type === "client") {
    return runClientTool({ tool, argumentsJson }, caller, context.clock, signal);
  }
  if (tool?.type !== "http") return EMPTY_TOOLBOX.run(call, caller, signal);
  const { orgId } = agent;
  // A header of that name which the tool's author has set himself stays as it is.
  const facts = tool.sendCallInfo === true ? callHeaders : {};
  const own = { ...facts, ...headers.get(tool.name) };
  const request = { tool, headers: own, argumentsJson, orgId };
  return runHttpTool(request, context, signal);
}

/** Answers when the last key has been sent: what the agent says next would be heard behind it. */
async function sendDigits(
  { argumentsJson }: ToolCall,
  caller: Pick<CallerChannel, "sendDigits">,
): Promise<ToolOutcome> {
  const asked = digitsToSend(argumentsJson);
  if (!("digits" in asked)) return { content: JSON.stringify({ ok: false, error: asked.error }) };
  const outcome = await caller.sendDigits(asked.digits);
  if (outcome === "pressed") return { content: JSON.stringify({ ok: true }) };
  const error = outcome === "unavailable" ? "this line has no keys" : "the keys were cut off";
  return { content: JSON.stringify({ ok: false, error }) };
}
