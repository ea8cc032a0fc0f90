import { CallError } from "./call-error.js";

/** The recipient of a call. */
export interface CallTarget {
  /** Such as `https://voice.example.com`, or `https://example.com/voice` for a server below a sub-path. */
  readonly server: string;
  /** Omitted with a token, which contains its agent, or for the organization's first agent. */
  readonly agentId?: string | undefined;
}

/** A call's credentials; empty for an agent that is public at the page's origin. */
export interface Credential {
  readonly token?: string | undefined;
  readonly apiKey?: string | undefined;
}

/** Throws the CallError for an invalid server address, such as one without its scheme. */
export function requireAddress({ server }: CallTarget): void {
  if (URL.canParse("/", server)) return;
  const message = `"${server}" is not a server address: write it like https://voice.example.com`;
  throw new CallError("protocol", message);
}

/** A path of the server, below its sub-path if it has one. Throws if `server` is not an address. */
export function serverAddress(server: string, path: string): URL {
  const address = new URL(server);
  address.pathname = `${address.pathname.replace(/\/+$/, "")}${path}`;
  address.search = "";
  address.hash = "";
  return address;
}

/** The address of the voice WebSocket, in stream mode. `sessionId`: a conversation to continue. */
export function callAddress(
  { server, agentId }: CallTarget,
  { token, apiKey }: Credential,
  encoding: string,
  sessionId: string | undefined,
): string {
  const address = serverAddress(server, "/ws/voice");
  address.protocol = address.protocol.replace("http", "ws");
  const parameters = {
    audio: "stream",
    encoding,
    agent_id: agentId,
    session_id: sessionId,
    token,
    api_key: apiKey,
  };
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== "") address.searchParams.set(name, value);
  }
  return address.href;
}
