import type { Answered } from "./contract-paths.js";

type McpServer = Answered<"getAgent">["mcpServers"][number];

export type McpAuthDraft =
  | { readonly type: "none" }
  /** Left out, the secret that the server has stays: it is never answered. */
  | { readonly type: "bearer"; readonly token?: string }
  | {
      readonly type: "clientCredentials";
      readonly tokenUrl: string;
      readonly clientId: string;
      readonly clientSecret?: string;
      readonly scope?: string;
    };

export interface McpServerDraft extends Omit<McpServer, "auth" | "headerNames"> {
  readonly auth: McpAuthDraft;
  /** Left out, those that were saved stay. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** As many as an agent may have. */
export const MCP_SERVERS_MAX = 8;

export const NEW_MCP_SERVER: McpServerDraft = {
  name: "",
  url: "",
  auth: { type: "none" },
  allowedTools: null,
  timeoutMs: 5_000,
};

export function mcpServerDraftOf({ headerNames: _names, ...server }: McpServer): McpServerDraft {
  return server;
}

/** Without the empty lines of the list of tools. */
export function sentMcpServer(server: McpServerDraft): McpServerDraft {
  const names = (server.allowedTools ?? []).map((name) => name.trim());
  const allowedTools = names.filter((name) => name !== "");
  return { ...server, allowedTools: allowedTools.length === 0 ? null : allowedTools };
}

export function newMcpAuth(type: string): McpAuthDraft {
  switch (type) {
    case "bearer":
      return { type };
    case "clientCredentials":
      return { type, tokenUrl: "", clientId: "" };
    default:
      return { type: "none" };
  }
}

/** A server for another agent: saved secrets are not copied, so that it has none but those that were just typed. */
export function copiedMcpServer(server: McpServerDraft): McpServerDraft {
  const { auth } = server;
  const hasSecret =
    (auth.type === "bearer" && auth.token !== undefined) ||
    (auth.type === "clientCredentials" && auth.clientSecret !== undefined);
  return hasSecret ? sentMcpServer(server) : { ...sentMcpServer(server), auth: { type: "none" } };
}
