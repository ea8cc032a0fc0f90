import { randomUUID } from "node:crypto";
import * as v from "valibot";
import type { AgentRecord, JsonObject } from "../../storage/records.js";
import type { HttpTool } from "../../storage/tenancy/agent-tool.js";
import { RequestError } from "../request-error.js";
import type { CredentialCipher } from "../security/credential-cipher.js";
import type { Variables } from "../telephony/call-values.js";
import type { Agents } from "../tenancy/agents/agents.js";
import type { Tenant } from "../tenancy/tenant.js";
import type { AgentMcpServerTools, AgentMcpTools } from "../tools/agent-mcp-tools.js";
import { agentHttpTools } from "../tools/agent-toolbox.js";
import { CallMcpTools } from "../tools/call-mcp-tools.js";
import { runHttpTool } from "../tools/http-tool.js";
import { mcpHeaders } from "../tools/mcp-headers.js";
import { offeredName } from "../tools/mcp-offer.js";
import type { McpToolLists } from "../tools/mcp-tool-lists.js";
import { HIDDEN, masked, ResultOk, secretWords } from "../tools/tool-log.js";
import type { VendorContext } from "../vendors/vendor-settings.js";
import { CallVariables } from "./call-variables.js";

export interface ToolTestInput {
  readonly name: string;
  readonly arguments: JsonObject;
  readonly variables?: Variables | undefined;
}

/** The request to the service, and the outcome. Secrets are hidden, also if the service repeats them. */
export interface ToolTest {
  readonly request: {
    readonly method: HttpTool["method"];
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly arguments: JsonObject;
    /** A tool of an MCP server, as that names it. */
    readonly mcpTool?: { readonly server: string; readonly name: string };
  };
  readonly ok: boolean;
  /** null if the service did not respond, and for tools of MCP servers, whose answers have a status of their own. */
  readonly status: number | null;
  /** What the LLM would read. */
  readonly content: string;
  readonly durationMs: number;
}

export interface ToolTestsOptions {
  readonly agents: Pick<Agents, "get">;
  readonly cipher: CredentialCipher;
  readonly context: VendorContext;
  readonly agentMcpTools: Pick<AgentMcpTools, "list">;
  readonly mcpLists: McpToolLists;
}

/** Tests an agent's tools as a call would use them, with arguments and values that the user enters. */
export class ToolTests {
  readonly #options: ToolTestsOptions;

  constructor(options: ToolTestsOptions) {
    this.#options = options;
  }

  /** RequestError `not_found`: no such agent, or its LLM is offered no HTTP or MCP tool of that name. */
  async run(
    tenant: Tenant,
    agentId: string,
    input: ToolTestInput,
    signal: AbortSignal,
  ): Promise<ToolTest> {
    const { agents, agentMcpTools, context } = this.#options;
    const agent = await agents.get(tenant, agentId);
    const { name, variables = {} } = input;
    const atMs = context.clock.epochMs();
    const facts = { callId: "test", channel: "web", callInfo: undefined, atMs } as const;
    const texts = new CallVariables(agent.persona, variables, facts);
    const given = { ...input, agent, texts };
    const tool = agent.tools.find(
      (each): each is HttpTool => each.type === "http" && each.name === name,
    );
    if (tool !== undefined) return this.#runHttp(tool, given, signal);
    const servers = await agentMcpTools.list(tenant, agentId, false);
    const tested = await this.#runMcp(given, signal);
    if (tested === undefined) throw notOffered(name, servers);
    return tested;
  }

  async #runHttp(
    tool: HttpTool,
    { agent, texts, arguments: given }: GivenTest,
    signal: AbortSignal,
  ): Promise<ToolTest> {
    const { cipher, context } = this.#options;
    const tools = agentHttpTools(agent, cipher, { callId: "test", texts });
    const argumentsJson = JSON.stringify(given);
    const request = tools.requestOf(tool, { idempotencyKey: newKey(), argumentsJson });
    const shown = {
      method: tool.method,
      url: request?.url ?? tool.url,
      headers: hidden(request?.headers ?? {}, tool.headerNames),
      arguments: { ...given, ...hidden(request?.fixed ?? {}, tool.fixedParameterNames ?? []) },
    };
    if (request === undefined) {
      const content = "a value of this call cannot be used in the address";
      return { request: shown, ok: false, status: null, content, durationMs: 0 };
    }
    const { outcome, durationMs } = await this.#timed(runHttpTool(request, context, signal));
    const { ok, status = null, content } = outcome;
    const secrets = secretWords([
      ...tools.secrets,
      ...Object.values(request.fixed),
      ...tool.headerNames.map((header) => request.headers[header] ?? ""),
    ]);
    return { request: shown, ok, status, content: masked(content, secrets), durationMs };
  }

  /** Undefined where the LLM is not offered the tool. */
  async #runMcp(
    { agent, texts, name, arguments: given }: GivenTest,
    signal: AbortSignal,
  ): Promise<ToolTest | undefined> {
    const { cipher, mcpLists } = this.#options;
    const tools = new CallMcpTools(agent, cipher, mcpLists, texts);
    const tool = tools.offered(name);
    if (tool === undefined) return undefined;
    const { url, headerNames, auth } = tool.server;
    const key = newKey();
    const secretNames = [...headerNames, ...(auth.type === "none" ? [] : ["authorization"])];
    const parameters = mcpHeaders(tool.headers, given);
    const request = {
      method: "POST",
      url,
      headers: {
        "idempotency-key": key,
        ...Object.fromEntries(secretNames.map((header) => [header, HIDDEN])),
        ...(parameters.ok && parameters.headers),
      },
      arguments: given,
      mcpTool: { server: tool.server.name, name: tool.name },
    } as const;
    const call = { id: key, name, argumentsJson: JSON.stringify(given) };
    const { outcome, durationMs } = await this.#timed(tools.run(call, key, signal));
    const content = masked(outcome.content, secretWords(tools.secrets));
    const ok = v.is(ResultOk, outcome.content);
    return { request, ok, status: null, content, durationMs };
  }

  async #timed<Outcome>(work: Promise<Outcome>) {
    const { clock } = this.#options.context;
    const startedMs = clock.monotonicMs();
    const outcome = await work;
    return { outcome, durationMs: Math.round(clock.monotonicMs() - startedMs) };
  }
}

interface GivenTest extends ToolTestInput {
  readonly agent: AgentRecord;
  readonly texts: CallVariables;
}

/** No call has it: a service that keeps keys takes each test for a new request. */
function newKey(): string {
  return `test/${randomUUID()}`;
}

/** Why the LLM is offered no tool of that name. */
function notOffered(name: string, servers: readonly AgentMcpServerTools[]): RequestError {
  for (const server of servers) {
    const omission = server.omitted.find((tool) => offeredName(server, tool.name) === name);
    if (omission !== undefined) {
      return new RequestError("not_found", `name: the LLM is not offered it: ${omission.message}`);
    }
    if (server.error !== null && name.startsWith(offeredName(server, ""))) {
      const words = `name: the tools of the MCP server ${server.name} could not be listed: ${server.error}`;
      return new RequestError("not_found", words);
    }
  }
  const expected = "name: expected an HTTP tool of the agent, or a tool of its MCP servers";
  return new RequestError("not_found", expected);
}

function hidden(
  values: Readonly<Record<string, string>>,
  secretNames: readonly string[],
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      secretNames.includes(name) ? HIDDEN : value,
    ]),
  );
}
