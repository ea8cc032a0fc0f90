/** A tool that the agent's LLM can call. Built-in tools are named after their types. */
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
  /** Left out: blind. Warm where the telephony vendor has that: the person hears a summary and accepts first. */
  readonly mode?: "blind" | "warm";
}

/** What the agent says while a tool runs. */
export interface ToolSentences {
  /** What the agent says when the tool starts, if the LLM has said nothing. Absent: nothing. */
  readonly onStart?: string;
  /** What the agent says when the tool still runs after `onDelayMs`. Absent: nothing. */
  readonly onDelay?: string;
  /** What the agent says when the tool has failed or timed out. Absent: nothing. */
  readonly onFailure?: string;
}

/** How the agent speaks while a tool runs. */
export interface BesideSpeech extends ToolSentences {
  /** Absent: the default. */
  readonly onDelayMs?: number;
  /**
   * If set, the agent goes on speaking while the tool runs. `reply`: the tool's result starts a turn. Absent: the agent
   * waits for the result.
   */
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
  /** Whether the service's response is spoken unchanged, instead of going to the LLM. */
  readonly speak: boolean;
  /** Whether both numbers of the call are sent to the service in headers. Absent: no. */
  readonly sendCallInfo?: boolean;
}

/** A tool that runs in the caller's own client, such as a page that shows the current topic. */
export interface ClientTool extends OwnTool {
  readonly type: "client";
}
