import * as v from "valibot";
import type { AgentRecord } from "../../../storage/records.js";
import type { McpAuth, McpServer } from "../../../storage/tenancy/mcp-server.js";
import { invalidFields } from "../../request-error.js";
import type { CredentialCipher } from "../../security/credential-cipher.js";
import {
  namesPrivateHost,
  PUBLIC_ADDRESS_EXPECTED,
} from "../../vendors/transport/private-addresses.js";
import { type Headers, inLowerCase } from "./agent-tools.js";

type ClientCredentials = Extract<McpAuth, { type: "clientCredentials" }>;

export type McpAuthInput =
  | { readonly type: "none" }
  | { readonly type: "bearer"; readonly token?: string | undefined }
  | (ClientCredentials & { readonly clientSecret?: string | undefined });

/** An MCP server in a request. Headers and secrets that are left out stay as they are. */
export interface McpServerInput extends Omit<McpServer, "auth" | "headerNames"> {
  readonly auth: McpAuthInput;
  readonly headers?: Headers | undefined;
}

type Servers = Pick<AgentRecord, "mcpServers" | "sealedMcpSecrets">;

const Secrets = v.object({
  headers: v.record(v.string(), v.string()),
  /** The bearer token, or the client secret. */
  secret: v.optional(v.string()),
});
export type McpSecrets = v.InferOutput<typeof Secrets>;
const SecretsByServer = v.record(v.string(), Secrets);

const NO_SERVERS: Servers = { mcpServers: [], sealedMcpSecrets: null };
const NO_SECRETS: McpSecrets = { headers: {} };

/** Returns the secrets by server name. Throws if none of the keys opens them. */
export function openMcpSecrets(
  { sealedMcpSecrets: sealed }: Pick<AgentRecord, "sealedMcpSecrets">,
  cipher: CredentialCipher,
): ReadonlyMap<string, McpSecrets> {
  if (sealed === null) return new Map();
  return new Map(Object.entries(v.parse(SecretsByServer, cipher.open(sealed))));
}

/**
 * Returns the servers as they are stored, with all their secrets sealed together. Throws RequestError `invalid_request`
 * if a secret is left out that was never given, was given for another server, or can be opened by no key.
 */
export function sealedMcpServers(
  inputs: readonly McpServerInput[],
  cipher: CredentialCipher,
  before: Servers = NO_SERVERS,
): Servers {
  const opened = openedOrLost(before, cipher);
  const secrets: Record<string, McpSecrets> = {};
  const mcpServers = inputs.map((input, index): McpServer => {
    const { name, url, allowedTools, timeoutMs } = input;
    const kept = () => keptSecrets(input, index, before, opened);
    const headers = input.headers === undefined ? kept().headers : inLowerCase(input.headers);
    const secret = secretOf(input, index, kept);
    const headerNames = Object.keys(headers);
    if (headerNames.length > 0 || secret !== undefined) {
      secrets[name] = secret === undefined ? { headers } : { headers, secret };
    }
    const auth = shownAuth(input.auth);
    return {
      name,
      url,
      auth,
      headerNames,
      allowedTools,
      timeoutMs,
      ...(input.onStart !== undefined && { onStart: input.onStart }),
      ...(input.background !== undefined && { background: input.background }),
    };
  });
  if (Object.keys(secrets).length === 0) return { mcpServers, sealedMcpSecrets: null };
  // Sealing unchanged secrets again would look like a change.
  const isSame =
    opened !== undefined && JSON.stringify(Object.fromEntries(opened)) === JSON.stringify(secrets);
  return { mcpServers, sealedMcpSecrets: isSame ? before.sealedMcpSecrets : cipher.seal(secrets) };
}

function openedOrLost(before: Servers, cipher: CredentialCipher) {
  try {
    return openMcpSecrets(before, cipher);
  } catch {
    // The secrets are lost and have to be given again.
    return undefined;
  }
}

function shownAuth(auth: McpAuthInput): McpAuth {
  if (auth.type !== "clientCredentials") return { type: auth.type };
  const { type, tokenUrl, clientId, scope } = auth;
  return { type, tokenUrl, clientId, ...(scope !== undefined && { scope }) };
}

function secretOf(
  { auth }: McpServerInput,
  index: number,
  kept: () => McpSecrets,
): string | undefined {
  if (auth.type === "none") return undefined;
  const [field, given] =
    auth.type === "bearer" ? ["token", auth.token] : ["clientSecret", auth.clientSecret];
  const secret = given ?? kept().secret;
  if (secret === undefined) {
    throw invalidFields([
      { path: `mcpServers.${index}.auth.${field}`, message: "expected a secret text" },
    ]);
  }
  return secret;
}

/** Returns the stored secrets of the server with this name, if they would be sent to the same origins as before. */
function keptSecrets(
  input: McpServerInput,
  index: number,
  before: Servers,
  opened: ReadonlyMap<string, McpSecrets> | undefined,
): McpSecrets {
  const earlier = before.mcpServers.find(({ name }) => name === input.name);
  if (earlier === undefined) return NO_SECRETS;
  if (earlier.headerNames.length === 0 && earlier.auth.type === "none") return NO_SECRETS;
  const path = `mcpServers.${index}.headers`;
  if (opened === undefined) {
    throw invalidFields([
      {
        path,
        message: "expected headers and secrets again, since the stored ones cannot be opened",
      },
    ]);
  }
  if (placesOf(earlier) !== placesOf(input)) {
    throw invalidFields([
      {
        path,
        message: "expected headers and secrets again, since they would go to another server",
      },
    ]);
  }
  const { headers, secret } = opened.get(input.name) ?? NO_SECRETS;
  const isSameAuth = earlier.auth.type === input.auth.type;
  return isSameAuth && secret !== undefined ? { headers, secret } : { headers };
}

function placesOf({ url, auth }: Pick<McpServerInput, "url" | "auth">): string {
  const tokenUrl = auth.type === "clientCredentials" ? auth.tokenUrl : url;
  return `${new URL(url).origin} ${new URL(tokenUrl).origin}`;
}

/** Throws RequestError `invalid_request` for servers at private addresses, since each of their requests would fail. */
export function requirePublicMcpServers(inputs: readonly McpServerInput[]): void {
  for (const [index, { url, auth }] of inputs.entries()) {
    const places = [[`mcpServers.${index}.url`, url]] as [string, string][];
    if (auth.type === "clientCredentials") {
      places.push([`mcpServers.${index}.auth.tokenUrl`, auth.tokenUrl]);
    }
    for (const [path, address] of places) {
      if (!namesPrivateHost(new URL(address))) continue;
      throw invalidFields([{ path, message: PUBLIC_ADDRESS_EXPECTED }]);
    }
  }
}
