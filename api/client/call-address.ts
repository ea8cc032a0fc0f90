import { CallError } from "./call-error.js";

/** Whom a call is for. */
export interface CallTarget {
  /** Such as `https://voice.example.com`, or `https://example.com/voice` for a server below a sub-path. */
  readonly server: string;
  /** Left out with a token, which names its agent, and where the organization's first agent will do. */
  readonly agentId?: string | undefined;
}

/** How a call proves that it may be made; empty for an agent that is public at the page's origin. */
export interface Credential {
  readonly token?: string | undefined;
  readonly apiKey?: string | undefined;
}

/** Throws the CallError for a server that is no address, such as one without its scheme. */
export function requireAddress({ server }: CallTarget): void {
  if (URL.canParse("/", server)) return;
  const message = `"${server}" is not a server address: write it like https://voice.example.com`;
  throw new CallError("protocol", message);
}

/** A path of the server's, below its sub-path if it has one. Throws where `server` is no address. */
export function serverAddress(server: string, path: string): URL {
  const address = new URL(server);
  address.pathname = `${address.pathname.replace(/\/+$/, "")}${path}`;
  address.search = "";
  address.hash = "";
  return address;
}

/** The address of the voice WebSocket, in stream mode. `sessionId`: a conversation to go on with. */
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
