import { randomUUID } from "node:crypto";
import type { JsonObject } from "../../storage/records.js";
import type { HttpTool } from "../../storage/tenancy/agent-tool.js";
import { RequestError } from "../request-error.js";
import type { CredentialCipher } from "../security/credential-cipher.js";
import type { Variables } from "../telephony/call-values.js";
import type { Agents } from "../tenancy/agents/agents.js";
import type { Tenant } from "../tenancy/tenant.js";
import { agentHttpTools } from "../tools/agent-toolbox.js";
import { runHttpTool } from "../tools/http-tool.js";
import { HIDDEN, masked, secretWords } from "../tools/tool-log.js";
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
  };
  readonly ok: boolean;
  /** null if the service did not respond. */
  readonly status: number | null;
  /** What the LLM would read. */
  readonly content: string;
  readonly durationMs: number;
}

export interface ToolTestsOptions {
  readonly agents: Pick<Agents, "get">;
  readonly cipher: CredentialCipher;
  readonly context: VendorContext;
}

/** Tests an agent's HTTP tools as a call would use them, with arguments and values that the user enters. */
export class ToolTests {
  readonly #options: ToolTestsOptions;

  constructor(options: ToolTestsOptions) {
    this.#options = options;
  }

  /** RequestError `not_found`: no such agent, or it has no HTTP tool of that name. */
  async run(
    tenant: Tenant,
    agentId: string,
    { name, arguments: given, variables = {} }: ToolTestInput,
    signal: AbortSignal,
  ): Promise<ToolTest> {
    const { agents, cipher, context } = this.#options;
    const agent = await agents.get(tenant, agentId);
    const tool = agent.tools.find(
      (each): each is HttpTool => each.type === "http" && each.name === name,
    );
    if (tool === undefined) {
      throw new RequestError("not_found", "name: expected an HTTP tool of the agent");
    }
    const { clock } = context;
    const atMs = clock.epochMs();
    const facts = { callId: "test", channel: "web", callInfo: undefined, atMs } as const;
    const texts = new CallVariables(agent.persona, variables, facts);
    const tools = agentHttpTools(agent, cipher, { callId: "test", texts });
    const argumentsJson = JSON.stringify(given);
    const request = tools.requestOf(tool, {
      idempotencyKey: `test/${randomUUID()}`,
      argumentsJson,
    });
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
    const startedMs = clock.monotonicMs();
    const { ok, status = null, content } = await runHttpTool(request, context, signal);
    const durationMs = Math.round(clock.monotonicMs() - startedMs);
    const secrets = secretWords([
      ...tools.secrets,
      ...Object.values(request.fixed),
      ...tool.headerNames.map((header) => request.headers[header] ?? ""),
    ]);
    return { request: shown, ok, status, content: masked(content, secrets), durationMs };
  }
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
