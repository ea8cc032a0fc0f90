import * as v from "valibot";
import type { AgentRecord } from "../../../storage/records.js";
import type {
  AgentTool,
  BesideSpeech,
  ClientTool,
  HttpTool,
} from "../../../storage/tenancy/agent-tool.js";
import { invalidFields } from "../../request-error.js";
import type { CredentialCipher } from "../../security/credential-cipher.js";
import {
  namesPrivateHost,
  PUBLIC_ADDRESS_EXPECTED,
} from "../../vendors/transport/private-addresses.js";

export type Headers = Readonly<Record<string, string>>;

/** An HTTP tool in a request. Headers and fixed parameters that are left out stay as they are. */
export interface HttpToolInput extends Omit<HttpTool, "headerNames" | "fixedParameterNames"> {
  readonly headers?: Headers;
  readonly fixedParameters?: Headers;
}

export type AgentToolInput = Exclude<AgentTool, HttpTool> | HttpToolInput;

type Tools = Pick<AgentRecord, "tools" | "sealedToolHeaders">;

const HeadersByTool = v.record(v.string(), v.record(v.string(), v.string()));

const NO_TOOLS: Tools = { tools: [], sealedToolHeaders: null };

/**
 * Returns the tools as they are stored, with all their headers sealed together. `before`: the agent's current tools.
 * Throws RequestError `invalid_request` if headers are left out that were given for another server or can be opened by
 * no key.
 */
export function sealedTools(
  inputs: readonly AgentToolInput[],
  cipher: CredentialCipher,
  before: Tools = NO_TOOLS,
): Tools {
  const kept = new KeptHeaders(before, cipher);
  const headersByTool: Record<string, Headers> = {};
  const tools = inputs.map((input, index): AgentTool => {
    if (input.type === "client") return clientTool(input);
    if (input.type !== "http") return input;
    const all = input.headers === undefined ? kept.of(input, index) : inLowerCase(input.headers);
    const headerNames = Object.keys(all);
    if (headerNames.length > 0) headersByTool[input.name] = all;
    const fixed = input.fixedParameters ?? kept.fixedOf(input, index);
    const fixedParameterNames = Object.keys(fixed);
    if (fixedParameterNames.length > 0) headersByTool[fixedKey(input.name)] = fixed;
    // The keys are in the order of the stored record, so that an unchanged tool compares as equal.
    const { type, name, description, parameters, url, method, timeoutMs, speak } = input;
    const stored = {
      type,
      name,
      description,
      parameters,
      url,
      method,
      headerNames,
      timeoutMs,
      speak,
    };
    return {
      ...stored,
      ...(fixedParameterNames.length > 0 && { fixedParameterNames }),
      ...(input.sendCallInfo === true && { sendCallInfo: true }),
      ...besideSpeechOf(input),
    };
  });
  return { tools, sealedToolHeaders: kept.sealedAgain(headersByTool) };
}

function clientTool(input: ClientTool): ClientTool {
  const { type, name, description, parameters, timeoutMs } = input;
  return { type, name, description, parameters, timeoutMs, ...besideSpeechOf(input) };
}

/** How the agent speaks while the tool runs, without what changes nothing, in the order in which it is read back. */
export function besideSpeechOf({
  onStart,
  onDelay,
  onDelayMs,
  onFailure,
  background,
  cancellable,
}: BesideSpeech): BesideSpeech {
  return {
    ...(onStart !== undefined && { onStart }),
    ...(onDelay !== undefined && { onDelay }),
    ...(onDelayMs !== undefined && { onDelayMs }),
    ...(onFailure !== undefined && { onFailure }),
    ...(background !== undefined && { background }),
    ...(cancellable === true && { cancellable }),
  };
}

/** Throws RequestError `invalid_request` for tools at private addresses, since each of their calls would fail. */
export function requirePublicTools(tools: readonly AgentToolInput[]): void {
  const details = tools.flatMap((tool, index) => {
    if (tool.type !== "http" || !namesPrivateHost(new URL(tool.url))) return [];
    const message = PUBLIC_ADDRESS_EXPECTED;
    return [{ path: `tools.${index}.url`, message }];
  });
  if (details.length > 0) throw invalidFields(details);
}

/** Throws RequestError `invalid_request` if the agent transfers calls on provider failure and has no transfer tool. */
export function requireTransferTarget({
  tools,
  thresholds,
}: Pick<AgentRecord, "tools" | "thresholds">): void {
  if (thresholds.onProviderFailure === "end" || tools.some(({ type }) => type === "transfer"))
    return;
  const path = "thresholds.onProviderFailure";
  const message = "expected a tool of type transfer, which names the target";
  throw invalidFields([{ path, message }]);
}

/** The names of tools and MCP servers that can have sentences. */
export function speakingToolNames(
  tools: readonly AgentToolInput[],
  mcpServers: readonly { readonly name: string }[],
): ReadonlySet<string> {
  return new Set([...tools, ...mcpServers].flatMap((each) => ("name" in each ? [each.name] : [])));
}

/** Throws RequestError `invalid_request` for sentences of a tool that the agent does not have, which no caller would hear. */
export function requireNamedTools({
  persona,
  tools,
  mcpServers,
}: Pick<AgentRecord, "persona" | "tools" | "mcpServers">): void {
  const names = speakingToolNames(tools, mcpServers);
  const message = "expected the name of one of the agent's tools or MCP servers";
  const details = persona.languageTexts.flatMap(({ toolSentences = {} }, index) =>
    Object.keys(toolSentences)
      .filter((name) => !names.has(name))
      .map((name) => ({ path: `persona.languageTexts.${index}.toolSentences.${name}`, message })),
  );
  if (details.length > 0) throw invalidFields(details);
}

/** Returns the headers of the HTTP tools by tool name. Throws if none of the keys opens them. */
export function openToolHeaders(
  { sealedToolHeaders }: Pick<AgentRecord, "sealedToolHeaders">,
  cipher: CredentialCipher,
): ReadonlyMap<string, Headers> {
  if (sealedToolHeaders === null) return new Map();
  return new Map(Object.entries(v.parse(HeadersByTool, cipher.open(sealedToolHeaders))));
}

/** Tool names contain no spaces, so this key collides with no tool name. */
export function fixedKey(toolName: string): string {
  return `fixed ${toolName}`;
}

/** The headers and fixed parameters that an agent's tools have before a change. */
class KeptHeaders {
  readonly #before: Tools;
  readonly #cipher: CredentialCipher;
  readonly #opened: ReadonlyMap<string, Headers> | undefined;

  constructor(before: Tools, cipher: CredentialCipher) {
    this.#before = before;
    this.#cipher = cipher;
    try {
      this.#opened = openToolHeaders(before, cipher);
    } catch {
      // The headers are lost and have to be given again.
      this.#opened = undefined;
    }
  }

  /** Returns the stored headers of the tool with this name, if it still leads to the same server. */
  of({ name, url }: Pick<HttpTool, "name" | "url">, index: number): Headers {
    const earlier = this.#before.tools.find(
      (tool): tool is HttpTool => tool.type === "http" && tool.name === name,
    );
    if (earlier === undefined || earlier.headerNames.length === 0) return {};
    return this.#stored(this.#opened?.get(name), earlier, url, `tools.${index}.headers`);
  }

  /** Returns the tool's fixed parameters under the same rule. */
  fixedOf({ name, url }: Pick<HttpTool, "name" | "url">, index: number): Headers {
    const earlier = this.#before.tools.find(
      (tool): tool is HttpTool => tool.type === "http" && tool.name === name,
    );
    if ((earlier?.fixedParameterNames ?? []).length === 0 || earlier === undefined) return {};
    const path = `tools.${index}.fixedParameters`;
    return this.#stored(this.#opened?.get(fixedKey(name)), earlier, url, path);
  }

  #stored(headers: Headers | undefined, earlier: HttpTool, url: string, path: string): Headers {
    if (headers !== undefined && new URL(earlier.url).origin === new URL(url).origin) {
      return headers;
    }
    const message =
      headers === undefined
        ? "expected them again, since the stored ones cannot be opened"
        : "expected them again, since the address leads to another server";
    throw invalidFields([{ path, message }]);
  }

  /** Returns the stored sealed text if nothing has changed, since sealing again would look like a change. */
  sealedAgain(headersByTool: Readonly<Record<string, Headers>>): string | null {
    if (Object.keys(headersByTool).length === 0) return null;
    const before = this.#opened && JSON.stringify(Object.fromEntries(this.#opened));
    if (before === JSON.stringify(headersByTool)) return this.#before.sealedToolHeaders;
    return this.#cipher.seal(headersByTool);
  }
}

export function inLowerCase(headers: Headers): Headers {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
}
