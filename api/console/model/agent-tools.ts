import type { Answered } from "./contract-paths.js";
import { isFields } from "./tool-parameters.js";

type AgentTool = Answered<"getAgent">["tools"][number];

/** What the tools have that are named here. */
interface OwnTool extends BesideSpeech {
  readonly name: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly timeoutMs: number;
}

/** How the agent speaks while a tool runs. */
export interface BesideSpeech {
  readonly onStart?: string;
  readonly onDelay?: string;
  /** Left out, the server's default. */
  readonly onDelayMs?: number;
  readonly onFailure?: string;
  /** Left out, the agent waits for it. */
  readonly background?: "quiet" | "reply";
  /** Left out, neither an interruption nor the end of the call aborts it. */
  readonly cancellable?: boolean;
}

export interface HttpTool extends OwnTool {
  readonly type: "http";
  readonly url: string;
  readonly method: "GET" | "POST";
  /** Left out, those that the server has stay: it never answers their values. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Left out, those that the server has stay. */
  readonly fixedParameters?: Readonly<Record<string, string>>;
  readonly speak: boolean;
  /** Left out, the service does not get who calls whom. */
  readonly sendCallInfo?: boolean;
}

export interface ClientTool extends OwnTool {
  readonly type: "client";
}

export type ToolDraft =
  | { readonly type: "hangup" }
  | {
      readonly type: "transfer";
      readonly to: string;
      readonly description?: string;
      /** Left out: blind. */
      readonly mode?: "blind" | "warm";
      /** Left out: the person sees the number of the call. */
      readonly callerId?: string;
    }
  | { readonly type: "sendDigits" }
  | HttpTool
  | ClientTool;

/** As many as an agent may have. */
export const TOOLS_MAX = 16;
const TIMEOUT_MS = 5_000;
/** The server's default for `onDelayMs`. */
export const ON_DELAY_MS = 3_000;

export function newTool(type: ToolDraft["type"]): ToolDraft {
  switch (type) {
    case "hangup":
    case "sendDigits":
      return { type };
    case "transfer":
      return { type, to: "" };
    case "http":
      return httpTool({});
    case "client":
      return { type, ...ownTool({}) };
  }
}

export function toolDraftOf(tool: AgentTool): ToolDraft {
  if (tool.type !== "http") return tool;
  const { headerNames: _names, fixedParameterNames: _fixed, ...rest } = tool;
  return rest;
}

/** The tools that a text of JSON means; undefined while it is no list of tools. The server judges the rest. */
export function toolsOf(text: string): readonly ToolDraft[] | undefined {
  const value = parsed(text);
  if (!Array.isArray(value)) return undefined;
  const tools = value.map(toolOf);
  return tools.some((tool) => tool === undefined)
    ? undefined
    : tools.filter((tool) => tool !== undefined);
}

function toolOf(value: unknown): ToolDraft | undefined {
  if (!isFields(value)) return undefined;
  switch (value["type"]) {
    case "hangup":
      return { type: "hangup" };
    case "sendDigits":
      return { type: "sendDigits" };
    case "transfer": {
      const description = textOf(value["description"]);
      const to = textOf(value["to"]);
      const callerId = textOf(value["callerId"]);
      return {
        type: "transfer",
        to,
        ...(description !== "" && { description }),
        ...(value["mode"] === "warm" && { mode: "warm" }),
        ...(callerId !== "" && { callerId }),
      };
    }
    case "http":
      return httpTool(value);
    case "client":
      return { type: "client", ...ownTool(value) };
    default:
      return undefined;
  }
}

function httpTool(value: Readonly<Record<string, unknown>>): HttpTool {
  const { url, method, headers, fixedParameters, speak, sendCallInfo } = value;
  return {
    type: "http",
    ...ownTool(value),
    url: textOf(url),
    method: method === "GET" ? "GET" : "POST",
    ...(isFields(headers) ? { headers: textsOf(headers) } : {}),
    ...(isFields(fixedParameters) ? { fixedParameters: textsOf(fixedParameters) } : {}),
    speak: speak === true,
    ...(sendCallInfo === true ? { sendCallInfo } : {}),
  };
}

function ownTool(value: Readonly<Record<string, unknown>>): OwnTool {
  const { name, description, parameters, timeoutMs } = value;
  return {
    name: textOf(name),
    description: textOf(description),
    parameters: isFields(parameters) ? parameters : { type: "object", properties: {} },
    timeoutMs: typeof timeoutMs === "number" ? timeoutMs : TIMEOUT_MS,
    ...besideSpeechOf(value),
  };
}

/** How the agent speaks, without what is not set. */
export function besideSpeechOf({
  onStart,
  onDelay,
  onDelayMs,
  onFailure,
  background,
  cancellable,
}: Partial<Record<SpeechField, unknown>>): BesideSpeech {
  return {
    ...(typeof onStart === "string" && onStart !== "" ? { onStart } : {}),
    ...(typeof onDelay === "string" && onDelay !== "" ? { onDelay } : {}),
    ...(typeof onDelayMs === "number" ? { onDelayMs } : {}),
    ...(typeof onFailure === "string" && onFailure !== "" ? { onFailure } : {}),
    ...(background === "quiet" || background === "reply" ? { background } : {}),
    ...(cancellable === true ? { cancellable } : {}),
  };
}

type SpeechField = keyof BesideSpeech;

/** The fields with others of how the agent speaks, which are complete: what they leave out is left out. */
export function withBesideSpeech<Fields extends BesideSpeech>(
  fields: Fields,
  beside: BesideSpeech,
): Omit<Fields, SpeechField> & BesideSpeech {
  const {
    onStart: _onStart,
    onDelay: _onDelay,
    onDelayMs: _onDelayMs,
    onFailure: _onFailure,
    background: _background,
    cancellable: _cancellable,
    ...rest
  } = fields;
  return { ...rest, ...beside };
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function textsOf(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, String(value)]));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
