import type { BesideSpeech } from "./agent-tool.js";

/** How the agent authenticates to an MCP server. Secrets are in the agent's `sealedMcpSecrets`. */
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

/**
 * A server whose tools the agent can use, over the HTTP transport of the Model Context Protocol. The fields of
 * `BesideSpeech` apply while any of its tools runs.
 */
export interface McpServer extends BesideSpeech {
  /** The prefix of its tools' names. */
  readonly name: string;
  readonly url: string;
  readonly auth: McpAuth;
  /** The values are in the agent's `sealedMcpSecrets`. */
  readonly headerNames: readonly string[];
  /** Names of allowed tools as the server spells them; null: all. */
  readonly allowedTools: readonly string[] | null;
  /** The time limit of a tool call. */
  readonly timeoutMs: number;
}
