import type { BesideSpeech } from "./agent-tool.js";

/** How an MCP server lets the agent in. Secrets are in the agent's `sealedMcpSecrets`. */
export type McpAuth =
  | { readonly type: "none" }
  | { readonly type: "bearer" }
  | {
      readonly type: "clientCredentials";
      /** Where tokens are requested (OAuth 2.0, RFC 6749 section 4.4). */
      readonly tokenUrl: string;
      readonly clientId: string;
      readonly scope?: string;
    };

/** A server whose tools the agent can use, by the Model Context Protocol over HTTP. `BesideSpeech`: while any of its tools runs. */
export interface McpServer extends BesideSpeech {
  /** Stands before the names of its tools. */
  readonly name: string;
  readonly url: string;
  readonly auth: McpAuth;
  /** The values are in the agent's `sealedMcpSecrets`. */
  readonly headerNames: readonly string[];
  /** Names of tools in the server's own writing; null: all. */
  readonly allowedTools: readonly string[] | null;
  /** How long a tool call may take. */
  readonly timeoutMs: number;
}
