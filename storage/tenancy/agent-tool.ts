/** What the agent's LLM may do besides talking. Built-in tools are named after their types. */
export type AgentTool =
  | { readonly type: "hangup" }
  | TransferTool
  | { readonly type: "sendDigits" }
  | HttpTool
  | ClientTool;

export interface TransferTool {
  readonly type: "transfer";
  /** E.164 or a SIP address. */
  readonly to: string;
  /** When to transfer, in words for the LLM. */
  readonly description?: string;
}

/** How the agent speaks while a tool runs. */
export interface BesideSpeech {
  /** What the agent says when it starts, where the LLM has said nothing; absent: nothing. */
  readonly onStart?: string;
  /** What the agent says when it still runs after `onDelayMs`; absent: nothing. */
  readonly onDelay?: string;
  /** Absent: the default. */
  readonly onDelayMs?: number;
  /** What the agent says when it has failed or timed out; absent: nothing. */
  readonly onFailure?: string;
  /** The agent speaks on while it runs. `reply`: its result starts a turn; absent: the agent waits for it. */
  readonly background?: "quiet" | "reply";
  /** An interruption or the end of the call aborts the request; absent: it does not. */
  readonly cancellable?: boolean;
}

/** An organization's own tool, with its name and description. */
interface OwnTool extends BesideSpeech {
  readonly name: string;
  /** When to use it, in words for the LLM. */
  readonly description: string;
  /** JSON schema of the arguments, which are an object. */
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly timeoutMs: number;
}

/** An organization's own service, called during a call. */
export interface HttpTool extends OwnTool {
  readonly type: "http";
  readonly url: string;
  readonly method: "GET" | "POST";
  /** The values are in the agent's `sealedToolHeaders`. */
  readonly headerNames: readonly string[];
  /** Parameters that the LLM neither writes nor sees; their values are encrypted with the headers'. Absent: none. */
  readonly fixedParameterNames?: readonly string[];
  /** The service's response is spoken unchanged, instead of going to the LLM. */
  readonly speak: boolean;
  /** Sends both numbers of the call to the service in headers; absent: does not. */
  readonly sendCallInfo?: boolean;
}

/** A tool that runs in the caller's own client, such as a page that shows the current topic. */
export interface ClientTool extends OwnTool {
  readonly type: "client";
}
