import { isJsonObject, type JsonObject } from "../../storage/records.js";
import type { McpServer } from "../../storage/tenancy/mcp-server.js";
import type { McpEra, McpListedTool } from "./mcp-client.js";
import { type McpHeaderParameter, mcpHeaderParameters } from "./mcp-headers.js";
import { UNREAD_SCHEMA_MAX_BYTES, withoutReferences } from "./schema-references.js";
import { isToolSchema, TOOL_SCHEMA_KEYWORDS } from "./tool-schema.js";

/** Tools of all MCP servers of an agent together. LLMs choose worse among more, and the schemas are paid for with every question. */
export const MCP_OFFERED_TOOLS_MAX = 48;
/** Most LLM vendors take no longer name of a tool. */
const NAME_MAX_CHARACTERS = 64;
const DESCRIPTION_MAX_CHARACTERS = 1_000;
/** Schemas within schemas are read to this depth; deeper ones are refused as too deep anyway. */
const READ_DEPTH_MAX = 20;

/** Why the LLM is not offered a tool that the server has, or lacks one that is allowed. */
export type McpOmissionReason =
  | "notAllowed"
  | "notListed"
  | "schemaRefused"
  | "taskRequired"
  | "nameTooLong"
  | "nameTaken"
  | "overLimit";

export interface McpOmission {
  /** As the server names it. */
  readonly name: string;
  readonly reason: McpOmissionReason;
  readonly message: string;
}

/** A tool of a server's list, with a schema that the LLM can be given, or why it cannot. */
export type McpKnownTool = { readonly name: string; readonly description: string } & (
  | { readonly schema: JsonObject; readonly headers: readonly McpHeaderParameter[] }
  | Refusal
);

interface Refusal {
  readonly reason: "schemaRefused" | "taskRequired";
  readonly refusal: string;
}

export interface McpOfferedTool {
  /** As the LLM calls it. */
  readonly offeredAs: string;
  readonly name: string;
  readonly description: string;
  readonly schema: JsonObject;
  /** Arguments that are sent in headers too. */
  readonly headers: readonly McpHeaderParameter[];
  readonly server: McpServer;
}

export interface McpOffer {
  readonly tools: readonly McpOfferedTool[];
  readonly omitted: ReadonlyMap<McpServer, readonly McpOmission[]>;
}

/**
 * What an agent's LLM is offered of the servers whose lists are known, in their order. `ownNames`: of the agent's other tools;
 * `offered`: tools of further servers that it is offered already, and keeps.
 */
export function mcpOffer(
  servers: readonly McpServer[],
  listOf: (server: McpServer) => readonly McpKnownTool[] | undefined,
  ownNames: readonly string[],
  offered: readonly McpOfferedTool[] = [],
): McpOffer {
  const tools = [...offered];
  const taken = new Set([...ownNames, ...offered.map(({ offeredAs }) => offeredAs)]);
  const omitted = new Map<McpServer, readonly McpOmission[]>();
  for (const server of servers) {
    const list = listOf(server);
    if (list === undefined) continue;
    const left: McpOmission[] = [];
    for (const tool of list) {
      const { name, description } = tool;
      const offeredAs = offeredName(server, name);
      const refusal = refusalOf(server, tool, offeredAs, taken, tools.length);
      if (refusal !== undefined) left.push({ name, ...refusal });
      else if ("schema" in tool) {
        taken.add(offeredAs);
        const { schema, headers } = tool;
        tools.push({ offeredAs, name, description, schema, headers, server });
      }
    }
    for (const name of server.allowedTools ?? []) {
      if (list.some((tool) => tool.name === name)) continue;
      left.push({ name, reason: "notListed", message: "the server has no tool of this name" });
    }
    omitted.set(server, left);
  }
  return { tools, omitted };
}

function refusalOf(
  { allowedTools }: McpServer,
  tool: McpKnownTool,
  offeredAs: string,
  taken: ReadonlySet<string>,
  count: number,
): Omit<McpOmission, "name"> | undefined {
  if (allowedTools !== null && !allowedTools.includes(tool.name)) {
    return { reason: "notAllowed", message: "it is not in allowedTools" };
  }
  if ("refusal" in tool) return { reason: tool.reason, message: tool.refusal };
  if (offeredAs.length > NAME_MAX_CHARACTERS) {
    const message = `with the server's name it has more than ${NAME_MAX_CHARACTERS} characters`;
    return { reason: "nameTooLong", message };
  }
  if (taken.has(offeredAs)) {
    return { reason: "nameTaken", message: `another tool is called ${offeredAs} already` };
  }
  if (count >= MCP_OFFERED_TOOLS_MAX) {
    const message = `an agent has at most ${MCP_OFFERED_TOOLS_MAX} tools of MCP servers`;
    return { reason: "overLimit", message };
  }
  return undefined;
}

/** LLM vendors take letters, digits, `_` and `-`. A server's name has no `_`, so that two servers cannot have the same names. */
export function offeredName({ name }: Pick<McpServer, "name">, toolName: string): string {
  return `${name}_${toolName.replace(/[^a-zA-Z0-9_-]/g, "_")}`;
}

const NO_HEADERS = { ok: true, parameters: [] } as const;

/** The tool with a schema that fits the rules of an agent's tools: what only narrows arguments and is not of these rules is left out, since the server checks them itself. */
export function knownMcpTool(
  { name, description, inputSchema, needsTask }: McpListedTool,
  era: McpEra["kind"],
): McpKnownTool {
  const told = { name, description: description.slice(0, DESCRIPTION_MAX_CHARACTERS) };
  const schemaRefused = (refusal: string) =>
    ({ ...told, reason: "schemaRefused", refusal }) as const;
  if (needsTask) {
    const refusal = "the server runs it as a task only, whose result comes later";
    return { ...told, reason: "taskRequired", refusal };
  }
  const text = JSON.stringify(inputSchema);
  if (Buffer.byteLength(text) > UNREAD_SCHEMA_MAX_BYTES) {
    return schemaRefused(`its schema has more than ${UNREAD_SCHEMA_MAX_BYTES} bytes`);
  }
  // Older revisions have no such headers.
  const marked = era === "modern" ? mcpHeaderParameters(inputSchema) : NO_HEADERS;
  if (!marked.ok) return schemaRefused(marked.error);
  const flat = withoutReferences(inputSchema);
  if (!flat.ok) return schemaRefused(flat.error);
  const schema = { ...withKnownKeywords(flat.schema, 1), type: "object" };
  if (!isToolSchema(schema)) {
    return schemaRefused("its schema is larger or deeper than a tool's can be");
  }
  return { ...told, schema, headers: marked.parameters };
}

function withKnownKeywords(schema: JsonObject, depth: number): JsonObject {
  if (depth > READ_DEPTH_MAX) return {};
  const nested = (value: unknown): unknown =>
    isJsonObject(value) ? withKnownKeywords(value, depth + 1) : value;
  const { oneOf, ...rest } = schema;
  const entries = Object.entries(oneOf === undefined ? rest : { anyOf: oneOf, ...rest });
  const kept = entries.flatMap(([keyword, value]): [string, unknown][] => {
    const clean = cleaned(keyword, value, nested);
    const isKept = TOOL_SCHEMA_KEYWORDS.get(keyword)?.(clean, {
      depth: 0,
      alternatives: { count: 0 },
    });
    return isKept === true || ["properties", "items", "anyOf"].includes(keyword)
      ? [[keyword, clean]]
      : [];
  });
  return Object.fromEntries(kept);
}

function cleaned(keyword: string, value: unknown, nested: (value: unknown) => unknown): unknown {
  switch (keyword) {
    case "properties":
      return isJsonObject(value)
        ? Object.fromEntries(Object.entries(value).map(([name, each]) => [name, nested(each)]))
        : value;
    case "anyOf":
      return Array.isArray(value) ? value.map(nested) : value;
    case "items":
    case "additionalProperties":
      // `true` says that anything fits, as an empty schema does.
      return value === true && keyword === "items" ? {} : nested(value);
    default:
      return value;
  }
}
