import { parseCommandLine } from "../command.js";
import { UsageError } from "../command-error.js";

/** Speech is sent in real time at 25 characters per second, so this limit is 40 s. */
const TEXT_CHARACTERS_MAX = 1000;
const E164 = /^\+[1-9]\d{6,14}$/;
/** More steps than fit in the longest call. */
const STEPS_MAX = 200;

/** One step of the caller: `say` waits until the agent has finished, `interrupt` begins while it talks. */
export interface Step {
  readonly kind: "say" | "interrupt";
  readonly text: string;
}

export type Detail = "events" | "quiet" | "json";

/** A telephone call: the caller dials, or the agent calls. */
export interface Telephone {
  readonly isPlaced: boolean;
  /** The number that the agent calls. If undefined, any number that answers. */
  readonly to: string | undefined;
}

export interface CallOptions {
  /** The server's URL without a path. If undefined, the server that this machine's configuration describes. */
  readonly url: string | undefined;
  readonly apiKey: string | undefined;
  readonly agentId: string | undefined;
  readonly sessionId: string | undefined;
  /** Undefined for a web call. */
  readonly telephone: Telephone | undefined;
  /** On the web, the agent's audio arrives in chunks instead of whole sentences. */
  readonly isStreamed: boolean;
  readonly steps: readonly Step[];
  readonly isInteractive: boolean;
  readonly saveFile: string | undefined;
  readonly detail: Detail;
}

/** Three turns: the caller says a name, interrupts the agent, and asks for the name again. */
const DEMONSTRATION: readonly Step[] = [
  { kind: "say", text: "Hello! My name is Ada." },
  { kind: "say", text: "Please count to 20." },
  { kind: "interrupt", text: "Stop. What is my name?" },
];

const text = { type: "string" } as const;
const texts = { type: "string", multiple: true } as const;
const flag = { type: "boolean", default: false } as const;

export function readCallOptions(args: readonly string[]): CallOptions {
  const { values, tokens } = parseCommandLine({
    args: [...args],
    tokens: true,
    options: {
      text: texts,
      interrupt: texts,
      url: text,
      key: text,
      agent: text,
      session: text,
      save: text,
      to: text,
      stream: flag,
      phone: flag,
      placed: flag,
      interactive: flag,
      quiet: flag,
      json: flag,
    },
  });
  const { url, key, agent, session, save, interactive, quiet, json } = values;
  if (quiet && json) throw new UsageError("give either --quiet or --json");
  const isInteractive = interactive;
  const telephone = telephoneOf(values);
  const isStreamed = values.stream;
  if (isStreamed && telephone !== undefined) {
    throw new UsageError("--stream is for web calls: telephone calls are always streamed");
  }
  const steps = tokens.flatMap((token): Step[] => {
    if (token.kind !== "option" || token.value === undefined) return [];
    if (token.name === "text") return [{ kind: "say", text: sayable(token.value) }];
    if (token.name === "interrupt") return [{ kind: "interrupt", text: sayable(token.value) }];
    return [];
  });
  if (steps.length > STEPS_MAX) {
    throw new UsageError(`give at most ${STEPS_MAX} --text and --interrupt`);
  }
  return {
    url: url === undefined ? undefined : serverUrl(url),
    apiKey: key,
    agentId: agent,
    sessionId: session,
    telephone,
    isStreamed,
    steps: steps.length > 0 || isInteractive ? steps : DEMONSTRATION,
    isInteractive,
    saveFile: save,
    detail: json ? "json" : quiet ? "quiet" : "events",
  };
}

function telephoneOf({
  phone,
  placed,
  to,
  session,
}: {
  readonly phone: boolean;
  readonly placed: boolean;
  readonly to?: string | undefined;
  readonly session?: string | undefined;
}): Telephone | undefined {
  if (placed && !phone) throw new UsageError("--placed needs --phone");
  if (to !== undefined && !placed) throw new UsageError("--to needs --phone --placed");
  if (to !== undefined && !E164.test(to)) {
    throw new UsageError("--to: expected a number like +15550101000");
  }
  if (!phone) return undefined;
  if (session !== undefined) {
    throw new UsageError("a telephone call cannot continue an earlier one: leave out --session");
  }
  return { isPlaced: placed, to };
}

/** Throws a UsageError if the text is empty or too long. */
export function sayable(words: string): string {
  const trimmed = words.trim();
  if (trimmed === "") throw new UsageError("a text may not be empty");
  if (trimmed.length > TEXT_CHARACTERS_MAX) {
    throw new UsageError(`a text may have at most ${TEXT_CHARACTERS_MAX} characters`);
  }
  return trimmed;
}

function serverUrl(given: string): string {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (url === undefined || !/^(?:http|ws)s?:$/.test(url.protocol)) {
    throw new UsageError("--url: expected an address like http://127.0.0.1:8080");
  }
  return url.href;
}
