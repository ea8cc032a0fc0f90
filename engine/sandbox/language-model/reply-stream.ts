import type { Exchange } from "../exchange.js";
import type { ChatFault, ChatVendor } from "../faults.js";
import type { SandboxContext } from "../simulator.js";
import {
  type ChatMessage,
  type OfferedTool,
  replyTo,
  type ToolUse,
  toolUse,
  type WantedTool,
} from "./simulated-language-model.js";

/** As servers without a reasoning parser leave it in the reply. */
const THOUGHTS = "<think>\nOkay, the caller wants an answer. Keep it short.\n</think>\n\n";
const LONG_REPLY_WORDS = 10_000;
const SLOW_FIRST_TOKEN_MS = 3000;
const SLOW_TOKEN_INTERVAL_MS = 200;
/** Where a fault of the stream occurs: late enough that some text was sent. */
const FAULT_AT_TOKEN = 5;
const SENTENCE_END = /[.!?]$/;

/** Pieces of a few characters with the space before them, as a tokenizer would cut. */
export function tokensOf(text: string): string[] {
  return text.match(/\s*\S{1,8}|\s+$/gu) ?? [];
}

/** Roughly what a tokenizer would count. */
export function promptTokensOf(messages: readonly ChatMessage[]): number {
  return messages.reduce((sum, { content }) => sum + tokensOf(content).length + 4, 3);
}

export interface Reply {
  readonly tokens: readonly string[];
  /** Follow the tokens. */
  readonly toolCalls: readonly SimulatedToolCall[];
  readonly finishReason: "stop" | "length" | "toolCalls";
  readonly promptTokens: number;
  readonly completionTokens: number;
}

export interface SimulatedToolCall extends WantedTool {
  /** The tool's arguments as JSON, as most vendors send them. */
  readonly argumentsJson: string;
}

export function composeReply(
  messages: readonly ChatMessage[],
  offered: readonly OfferedTool[],
  tokensMax: number | undefined,
  fault: ChatFault | undefined,
): Reply {
  const promptTokens = promptTokensOf(messages);
  const used = toolsUnder(fault, messages, offered);
  const tokens = tokensFor(messages, used?.words, fault);
  const toolCalls = (used?.calls ?? []).map((call) => simulated(call, fault));
  const argumentTokens = toolCalls.flatMap((call) => tokensOf(call.argumentsJson)).length;
  const reply: Reply = {
    tokens,
    toolCalls,
    finishReason: toolCalls.length > 0 ? "toolCalls" : "stop",
    promptTokens,
    completionTokens: tokens.length + argumentTokens + toolCalls.length,
  };
  const isUnlimited = fault === "emptyReply" || fault === "longReply" || tokensMax === undefined;
  if (isUnlimited || reply.completionTokens <= tokensMax) return reply;
  return {
    tokens: tokens.slice(0, tokensMax),
    toolCalls: [],
    finishReason: "length",
    promptTokens,
    completionTokens: tokensMax,
  };
}

function tokensFor(
  messages: readonly ChatMessage[],
  words: string | undefined,
  fault: ChatFault | undefined,
): readonly string[] {
  if (fault === "emptyReply") return [];
  if (fault === "longReply") return Array.from({ length: LONG_REPLY_WORDS }, (_, n) => longWord(n));
  const reply = words ?? replyTo(messages);
  return tokensOf(fault === "thinksAloud" ? `${THOUGHTS}${reply}` : reply);
}

function simulated(call: WantedTool, fault: ChatFault | undefined): SimulatedToolCall {
  const argumentsJson = fault === "brokenArguments" ? '{"broken' : JSON.stringify(call.arguments);
  return { ...call, argumentsJson };
}

function toolsUnder(
  fault: ChatFault | undefined,
  messages: readonly ChatMessage[],
  offered: readonly OfferedTool[],
): ToolUse | undefined {
  if (fault === "emptyReply" || fault === "longReply") return undefined;
  const first = offered[0];
  if (fault !== "toolLoop" || first === undefined) return toolUse(messages, offered);
  return { words: "", calls: [{ name: first.name, arguments: {} }] };
}

/** Ten words a sentence, each one different. */
function longWord(n: number): string {
  const space = n === 0 ? "" : " ";
  const word = n % 10 === 0 ? `Sentence${n / 10 + 1}` : `word${n + 1}`;
  return `${space}${word}${n % 10 === 9 ? "." : ""}`;
}

/** How one vendor formats the parts of its stream. */
export interface StreamDialect {
  readonly contentType: string;
  readonly headers: Readonly<Record<string, string>>;
  opening(): string;
  token(text: string): string;
  /** In as many pieces as the vendor would send. */
  toolCall(call: SimulatedToolCall, position: number): readonly string[];
  /** Everything after the last token; without the end mark if `isWhole` is false. */
  closing(reply: Reply, isWhole: boolean): string;
  error(): string;
  /** Data that a client has to skip, at any position. */
  filler(): string;
}

/** Streams a reply token by token with the vendor's delays, and applies a configured fault. */
export async function streamReply(
  context: SandboxContext,
  vendor: ChatVendor,
  request: number,
  exchange: Exchange,
  dialect: StreamDialect,
  reply: Reply,
  fault: ChatFault | undefined,
): Promise<void> {
  const { faults, journal } = context;
  const isSlow = fault === "slow";
  if (fault === "stallBeforeFirstByte") await exchange.stall();
  await exchange.pause(isSlow ? SLOW_FIRST_TOKEN_MS : (faults[vendor].firstTokenMs ?? 0));
  if (fault === "disconnectBeforeFirstByte") {
    exchange.disconnect();
    return;
  }
  exchange.start({ "content-type": dialect.contentType, ...dialect.headers });
  const write =
    fault === "fragmented" ? fragments(exchange, dialect) : exchange.write.bind(exchange);
  await write(dialect.opening());
  let sent = 0;
  let isInFirstSentence = true;
  for (const { piece, isLast, endsSentence } of piecesOf(dialect, reply)) {
    if (sent > 0) await exchange.pause(isSlow ? SLOW_TOKEN_INTERVAL_MS : intervalMs());
    if (isInFirstSentence && endsSentence) {
      journal.record(vendor, "firstSentence", request);
      isInFirstSentence = false;
    }
    await write(piece);
    if (sent === 0) journal.record(vendor, "firstByte", request);
    sent += 1;
    if (sent === FAULT_AT_TOKEN || (isLast && sent < FAULT_AT_TOKEN)) {
      if (await strike(exchange, dialect, fault)) return;
    }
  }
  await write(dialect.closing(reply, fault !== "endWithoutDone"));
  exchange.end();
  journal.record(vendor, "lastByte", request);

  function intervalMs(): number {
    return faults[vendor].tokenIntervalMs ?? 0;
  }
}

interface StreamPiece {
  readonly piece: string;
  readonly isLast: boolean;
  readonly endsSentence: boolean;
}

/** Pieces are generated when they are sent: a dialect may number them. */
function* piecesOf(dialect: StreamDialect, { tokens, toolCalls }: Reply): Generator<StreamPiece> {
  for (const [position, token] of tokens.entries()) {
    const isLast = toolCalls.length === 0 && position === tokens.length - 1;
    yield { piece: dialect.token(token), isLast, endsSentence: SENTENCE_END.test(token) };
  }
  for (const [position, call] of toolCalls.entries()) {
    const pieces = dialect.toolCall(call, position);
    const isLastCall = position === toolCalls.length - 1;
    for (const [at, piece] of pieces.entries()) {
      const isLast = isLastCall && at === pieces.length - 1;
      yield { piece, isLast, endsSentence: false };
    }
  }
}

/** Whether the fault ends the stream. */
async function strike(
  exchange: Exchange,
  dialect: StreamDialect,
  fault: ChatFault | undefined,
): Promise<boolean> {
  if (fault === "stallMidStream") await exchange.stall();
  if (fault === "garbageJson") await exchange.write(dialect.token("x").replace('"', "<"));
  if (fault === "disconnectMidStream") exchange.disconnect();
  if (fault === "errorMidStream") {
    await exchange.write(dialect.error());
    exchange.end();
  }
  return fault === "disconnectMidStream" || fault === "errorMidStream";
}

/** Cuts everything into pieces of three bytes, and sends data to skip in between. */
function fragments(exchange: Exchange, dialect: StreamDialect): (text: string) => Promise<void> {
  return async (text) => {
    const bytes = Buffer.from(dialect.filler() + text);
    for (let at = 0; at < bytes.length; at += 3) {
      await exchange.write(bytes.subarray(at, at + 3));
      await new Promise(setImmediate);
    }
  };
}
