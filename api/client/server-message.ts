/** The server's text frames in stream mode; see docs/reference/protocol.md. */
export type ServerMessage =
  | {
      readonly type: "connected";
      readonly agentName: string;
      readonly historyKey: string;
      readonly callId: string;
    }
  | {
      readonly type: "transcript";
      readonly role: "user" | "assistant";
      readonly text: string;
      readonly isFinal: boolean;
    }
  | { readonly type: "audioStart"; readonly turnId: number; readonly sampleRateHz: number }
  | { readonly type: "audioStop" }
  | { readonly type: "audioEnd" }
  | { readonly type: "error"; readonly message: string; readonly code: string }
  | ToolCall;

/** A call of one of the page's tools; the response has its id. */
export interface ToolCall {
  readonly type: "toolCall";
  readonly id: number;
  readonly name: string;
  readonly arguments: Fields;
}

export type Fields = Readonly<Record<string, unknown>>;

/** Returns undefined for unknown messages: a newer server may send more. */
export function serverMessage(text: string): ServerMessage | undefined {
  const fields = parsed(text);
  const payload = fieldsOf(fields["payload"]);
  switch (fields["type"]) {
    case "connected":
      return {
        type: "connected",
        agentName: textOf(fields["agentName"]),
        historyKey: textOf(fields["historyKey"]),
        callId: textOf(fields["callId"]),
      };
    case "transcript":
      return {
        type: "transcript",
        role: payload["role"] === "user" ? "user" : "assistant",
        text: textOf(payload["text"]),
        isFinal: payload["isFinal"] === true,
      };
    case "audioStart":
      return {
        type: "audioStart",
        turnId: numberOf(fields["turnId"]),
        sampleRateHz: numberOf(fields["sampleRateHz"]),
      };
    case "audioStop":
      return { type: "audioStop" };
    case "audioEnd":
      return { type: "audioEnd" };
    case "error":
      return { type: "error", message: textOf(payload["message"]), code: textOf(payload["code"]) };
    case "toolCall":
      return {
        type: "toolCall",
        id: numberOf(fields["id"]),
        name: textOf(fields["name"]),
        arguments: fieldsOf(fields["arguments"]),
      };
    default:
      return undefined;
  }
}

function parsed(text: string): Fields {
  try {
    return fieldsOf(JSON.parse(text));
  } catch {
    return {};
  }
}

function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : {};
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function numberOf(value: unknown): number {
  return typeof value === "number" ? value : 0;
}
