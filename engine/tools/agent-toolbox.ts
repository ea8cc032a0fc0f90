import type { AgentRecord, JsonObject } from "../../storage/records.js";
import type {
  AgentTool,
  BesideSpeech,
  ClientTool,
  HttpTool,
} from "../../storage/tenancy/agent-tool.js";
import { BRIEFING_CHARACTERS_MAX } from "../conversation/call-end.js";
import type { CallerChannel } from "../conversation/caller-channel.js";
import { DTMF_DIGITS, DTMF_DIGITS_MAX } from "../conversation/control-command.js";
import { briefingLanguageWords } from "../conversation/lexicon.js";
import type { ConversationTool } from "../conversation/state.js";
import {
  EMPTY_TOOLBOX,
  parsedArguments,
  sortedJson,
  type ToolArguments,
  type Toolbox,
  type ToolOutcome,
  toolArguments,
} from "../conversation/toolbox.js";
import type { CredentialCipher } from "../security/credential-cipher.js";
import { fixedKey, openToolHeaders } from "../tenancy/agents/agent-tools.js";
import type { Clock } from "../time/clock.js";
import type { ToolCall, ToolDefinition } from "../vendors/contracts.js";
import type { VendorContext } from "../vendors/vendor-settings.js";
import { CallMcpTools } from "./call-mcp-tools.js";
import { type HttpToolCall, runHttpTool, sentArguments } from "./http-tool.js";
import type { McpToolLists } from "./mcp-tool-lists.js";
import type { KeyedRequest, OpenToolCalls } from "./open-tool-calls.js";
import {
  type CallTexts,
  filledAddress,
  filledFixed,
  filledHeaders,
  secretsIn,
} from "./tool-texts.js";

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
  if (!checked.ok) return misused(checked.error);
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
  return { ...misused(error), isFailed: true };
}

/** The LLM may try again with other arguments: no failure of the tool. */
function misused(error: string): ToolOutcome {
  return { content: JSON.stringify({ ok: false, error }) };
}

const NOTHING: JsonObject = { type: "object", properties: {}, additionalProperties: false };

const DIGITS: JsonObject = {
  type: "object",
  properties: {
    digits: {
      type: "string",
      description: "The keys in their order: 0 to 9, *, # and A to D, without blanks.",
      pattern: DTMF_DIGITS.source,
      maxLength: DTMF_DIGITS_MAX,
    },
  },
  required: ["digits"],
  additionalProperties: false,
};

function warmTransferParameters(language: string): JsonObject {
  return {
    type: "object",
    properties: {
      summary: {
        type: "string",
        description: `What the person hears before they accept: who calls and why, in one or two sentences, in ${language}.`,
        maxLength: BRIEFING_CHARACTERS_MAX,
      },
    },
    required: ["summary"],
    additionalProperties: false,
  };
}

/** What the model is told about an agent's tools, in their order. */
export function toolDefinitions(
  tools: readonly AgentTool[],
  briefingLanguage: string | null = null,
): readonly ToolDefinition[] {
  return tools.map((tool) => definitionOf(tool, briefingLanguage));
}

/** The keys that a call of `sendDigits` asks for; an error for the model when they are none. */
export function digitsToSend(
  argumentsJson: string,
): { readonly digits: string } | Extract<ToolArguments, { ok: false }> {
  const given = toolArguments(argumentsJson, DIGITS);
  if (!given.ok) return given;
  return { digits: String(given.arguments["digits"]) };
}

function definitionOf(tool: AgentTool, briefingLanguage: string | null): ToolDefinition {
  switch (tool.type) {
    case "hangup":
      return {
        name: tool.type,
        description:
          "Ends the call for good. Use it when the caller has said goodbye or wants nothing more, and say goodbye in the same reply, before it.",
        parameters: NOTHING,
      };
    case "transfer":
      if (tool.mode === "warm") {
        return {
          name: tool.type,
          description: `Calls somebody else, tells them what the call is about, and puts the caller through if they accept; your part of the call ends by it unless they do not. Say in the same reply, before it, that the caller waits a moment while you call them.${purpose(tool.description)}`,
          parameters: warmTransferParameters(briefingLanguageWords(briefingLanguage)),
        };
      }
      return {
        name: tool.type,
        description: `Puts the caller through to somebody else; your part of the call ends by it. Say in the same reply, before it, that you are transferring the call.${purpose(tool.description)}`,
        parameters: NOTHING,
      };
    case "sendDigits":
      return {
        name: tool.type,
        description:
          "Presses keys of the telephone, to choose from a menu or to enter a number at the other end of the line. The caller does not press them, you do.",
        parameters: DIGITS,
      };
    case "http":
    case "client": {
      const { name, description, parameters } = tool;
      return { name, description, parameters };
    }
  }
}

function purpose(description: string | undefined): string {
  return description === undefined || description === "" ? "" : ` When to use it: ${description}`;
}

/** What the session itself has to know of an agent's tools: which of them end the call. */
export function sessionTools({
  tools,
  mcpServers,
}: Pick<AgentRecord, "tools" | "mcpServers">): readonly ConversationTool[] {
  const own = tools.map((tool): ConversationTool => {
    const name = nameOf(tool);
    if (tool.type === "transfer") {
      const how = {
        ...(tool.mode === "warm" && ({ isWarm: true } as const)),
        ...(tool.callerId !== undefined && { callerId: tool.callerId }),
      };
      return { kind: tool.type, name, to: tool.to, ...how };
    }
    if (tool.type !== "http" && tool.type !== "client") return { kind: tool.type, name };
    return { kind: tool.type, name, ...besideSpeech(tool) };
  });
  const ofServers = mcpServers.map(
    (server): ConversationTool => ({ kind: "mcp", name: server.name, ...besideSpeech(server) }),
  );
  return [...own, ...ofServers];
}

/** When `onDelay` is said unless its author says otherwise: a caller wonders after some three seconds of silence. */
export const ON_DELAY_DEFAULT_MS = 3_000;

function besideSpeech({
  onStart,
  onDelay,
  onDelayMs = ON_DELAY_DEFAULT_MS,
  onFailure,
  background,
  cancellable,
}: BesideSpeech) {
  return {
    ...(onStart && { onStart }),
    ...(onDelay && { onDelay: { text: onDelay, afterMs: onDelayMs } }),
    ...(onFailure && { onFailure }),
    ...(background && { background }),
    ...(cancellable === true && { isCancellable: cancellable }),
  };
}

/**
 * The agent's tools on a leg that can or cannot be transferred, with only those transfers whose targets are allowed:
 * the LLM does not get a transfer that would be refused or hang up.
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
  call: ToolsCall = {},
  mcpLists?: McpToolLists,
): Toolbox {
  const { mcpServers } = agent;
  if (agent.tools.length === 0 && mcpServers.length === 0) return EMPTY_TOOLBOX;
  const headers = openToolHeaders(agent, cipher);
  const mcp = mcpLists && new CallMcpTools(agent, cipher, mcpLists, call.texts ?? UNFILLED);
  const deps = { agent, headers, mcp, context, call, running: new Map(), seenIds: new Map() };
  const own = toolDefinitions(agent.tools, agent.persona.briefingLanguage);
  return {
    get definitions() {
      return mcp?.definitionsBehind(own) ?? own;
    },
    secrets: [...ownSecrets(headers, call), ...(mcp?.secrets ?? [])],
    run: (toolCall, caller, signal) => run(deps, toolCall, caller, signal),
  };
}

/** What the tools of one call know of it. */
export interface ToolsCall {
  readonly callId?: string;
  /** For tools that have asked for who calls whom. */
  readonly callHeaders?: Readonly<Record<string, string>>;
  readonly texts?: CallTexts;
  /** Keeps the keys of requests for the call that continues this one. */
  readonly open?: Pick<OpenToolCalls, "begin">;
}

const TOOL_CALL_ID_CHARACTERS_MAX = 100;
const UNFILLED: CallTexts = { fill: (text) => text };

interface ToolDeps {
  readonly agent: AgentRecord;
  readonly headers: ReturnType<typeof openToolHeaders>;
  readonly mcp: CallMcpTools | undefined;
  readonly context: VendorContext;
  readonly call: ToolsCall;
  /** What HTTP, MCP and client tools are doing, by name and effective arguments. */
  readonly running: Map<string, Promise<ToolOutcome>>;
  /** How often each id of an HTTP tool call came: an LLM that gives none has the same ones in every reply. */
  readonly seenIds: Map<string, number>;
}

function run(
  deps: ToolDeps,
  call: ToolCall,
  caller: CallerChannel,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  const { agent, context } = deps;
  // Models make names up; what the agent does not have is not done.
  const tool = agent.tools.find((each) => nameOf(each) === call.name);
  if (tool?.type === "sendDigits") return sendDigits(call, caller);
  const { argumentsJson } = call;
  const work =
    tool?.type === "client"
      ? () => runClientTool({ tool, argumentsJson }, caller, context.clock, signal)
      : workOf(deps, tool, call, signal);
  if (work === undefined) return EMPTY_TOOLBOX.run(call, caller, signal);
  // A service that is slow would be asked to do the same again: the second call gets the result of the first.
  const key = `${call.name} ${argumentsKey(deps, tool, argumentsJson)}`;
  const known = deps.running.get(key);
  if (known !== undefined) return known;
  const running = work().finally(() => deps.running.delete(key));
  deps.running.set(key, running);
  return running;
}

/** The same text for arguments that do the same, however the LLM writes them. */
function argumentsKey(
  { headers, call: { texts = UNFILLED } }: ToolDeps,
  tool: AgentTool | undefined,
  argumentsJson: string,
): string {
  const given = parsedArguments(argumentsJson);
  if (given === undefined) return argumentsJson;
  if (tool?.type !== "http") return sortedJson(given);
  const fixed = filledFixed(headers.get(fixedKey(tool.name)) ?? {}, texts);
  const url = filledAddress(tool, texts);
  return sortedJson(url === undefined ? given : sentArguments({ tool, url, fixed }, given));
}

/** What a service does for a tool call; undefined where the agent has no such tool. */
function workOf(
  deps: ToolDeps,
  tool: AgentTool | undefined,
  call: ToolCall,
  signal: AbortSignal,
): (() => Promise<ToolOutcome>) | undefined {
  if (tool?.type === "http") return () => runFilled(deps, tool, call, signal);
  const { mcp } = deps;
  if (tool !== undefined || mcp?.has(call.name) !== true) return undefined;
  return async () => {
    const keyed = await keyedRequest(deps, call);
    return mcp.run(call, keyed?.idempotencyKey, signal).finally(keyed?.end);
  };
}

/** Undefined outside a call. */
async function keyedRequest(deps: ToolDeps, call: ToolCall): Promise<KeyedRequest | undefined> {
  const { callId, open } = deps.call;
  const { id } = newToolCall(deps, call);
  if (callId === undefined) return undefined;
  const newKey = idempotencyKey(callId, id);
  return (await open?.begin(call, newKey)) ?? { idempotencyKey: newKey, end: () => undefined };
}

/** The call with an id that no earlier one of this conversation has. */
function newToolCall({ seenIds }: ToolDeps, call: ToolCall): ToolCall {
  const id = call.id.slice(0, TOOL_CALL_ID_CHARACTERS_MAX);
  const seen = (seenIds.get(id) ?? 0) + 1;
  seenIds.set(id, seen);
  return { ...call, id: seen === 1 ? id : `${id}.${seen}` };
}

async function runFilled(
  deps: ToolDeps,
  tool: HttpTool,
  call: ToolCall,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  const keyed = await keyedRequest(deps, call);
  const request = filledRequest(deps, tool, { ...call, idempotencyKey: keyed?.idempotencyKey });
  if (request === undefined) {
    keyed?.end();
    return failed("a value of this call cannot stand in the address");
  }
  const result = await runHttpTool(request, deps.context, signal).finally(keyed?.end);
  const { content, spoken, ok, fault } = result;
  return { content, spoken, ...(!ok && fault !== "badArguments" && { isFailed: true }) };
}

type KeyedToolCall = Pick<ToolCall, "argumentsJson"> & {
  readonly idempotencyKey: string | undefined;
};

export interface AgentHttpTools {
  readonly secrets: readonly string[];
  /** What a call would ask; undefined where a value cannot stand in the address. */
  requestOf(tool: HttpTool, call: KeyedToolCall): HttpToolCall | undefined;
}

/** The agent's HTTP tools outside a call, to be looked at. */
export function agentHttpTools(
  agent: AgentRecord,
  cipher: CredentialCipher,
  call: ToolsCall,
): AgentHttpTools {
  const headers = openToolHeaders(agent, cipher);
  return {
    secrets: ownSecrets(headers, call),
    requestOf: (tool, toolCall) => filledRequest({ agent, headers, call }, tool, toolCall),
  };
}

function ownSecrets(
  headers: ReturnType<typeof openToolHeaders>,
  { texts = UNFILLED }: ToolsCall,
): readonly string[] {
  return [...headers.values()].flatMap((each) => secretsIn(each, texts));
}

function filledRequest(
  { agent, headers, call }: Pick<ToolDeps, "agent" | "headers" | "call">,
  tool: HttpTool,
  { idempotencyKey: key, argumentsJson }: KeyedToolCall,
): HttpToolCall | undefined {
  const { callHeaders, texts = UNFILLED } = call;
  const url = filledAddress(tool, texts);
  if (url === undefined) return undefined;
  const opened = headers.get(tool.name) ?? {};
  const fixed = filledFixed(headers.get(fixedKey(tool.name)) ?? {}, texts);
  // A header of that name which the tool's author has set himself stays as it is.
  const facts = {
    ...(key !== undefined && { "idempotency-key": key }),
    ...(tool.sendCallInfo === true && callHeaders),
  };
  const own = { ...facts, ...filledHeaders(opened, texts) };
  return { tool, url, fixed, headers: own, argumentsJson, orgId: agent.orgId };
}

/** The same for each try of one tool call. A vendor's id of a tool call may hold anything. */
function idempotencyKey(callId: string, toolCallId: string): string {
  return `${callId}/${encodeURIComponent(toolCallId)}`;
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
