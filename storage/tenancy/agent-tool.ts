/** What the agent's model may do besides talking. The built-in ones are named as their types. */
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
  /** When to transfer, in words for the model. */
  readonly description?: string;
}

/** How the agent speaks while a tool runs. */
export interface BesideSpeech {
  /** What the agent says when it starts, where the LLM has said nothing; absent: nothing. */
  readonly onStart?: string;
  /** The agent speaks on while it runs. `reply`: its result starts a turn; absent: the agent waits for it. */
  readonly background?: "quiet" | "reply";
}

/** A tool of the organization's own, which it names and describes. */
interface OwnTool extends BesideSpeech {
  readonly name: string;
  /** When to use it, in words for the model. */
  readonly description: string;
  /** JSON schema of the arguments, which are an object. */
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly timeoutMs: number;
}

/** A service of the organization's own, reached from the call. */
export interface HttpTool extends OwnTool {
  readonly type: "http";
  readonly url: string;
  readonly method: "GET" | "POST";
  /** The values are in the agent's `sealedToolHeaders`. */
  readonly headerNames: readonly string[];
  /** Parameters that the model neither writes nor sees; their values are sealed with the headers'. Absent: none. */
  readonly fixedParameterNames?: readonly string[];
  /** What the service answers is spoken as it is, instead of given to the model. */
  readonly speak: boolean;
  /** Sends both numbers of the call to the service in headers; absent: does not. */
  readonly sendCallInfo?: boolean;
}

/** Something that the caller's own client does, such as a page that shows what is talked about. */
export interface ClientTool extends OwnTool {
  readonly type: "client";
}
