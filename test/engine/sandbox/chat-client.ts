import * as v from "valibot";
import type { ChatMessage } from "../../../engine/sandbox/language-model/simulated-language-model.js";

const Chunk = v.looseObject({
  object: v.optional(v.string()),
  choices: v.optional(
    v.array(
      v.looseObject({
        delta: v.optional(v.looseObject({ content: v.optional(v.string()) })),
        finish_reason: v.nullable(v.string()),
      }),
    ),
  ),
  usage: v.optional(
    v.nullable(v.looseObject({ prompt_tokens: v.number(), completion_tokens: v.number() })),
  ),
  x_groq: v.optional(
    v.looseObject({
      id: v.string(),
      usage: v.optional(v.looseObject({ total_tokens: v.number() })),
    }),
  ),
  error: v.optional(v.looseObject({ message: v.string() })),
});
export type ChatChunk = v.InferOutput<typeof Chunk>;

export interface ChatAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
  /** Undefined when the body broke off. */
  readonly isWhole: boolean;
}

/** When the client gives up: on a signal, or when the body holds these words. */
export interface Patience {
  readonly signal?: AbortSignal;
  readonly until?: string;
}

/** The body as far as it came. */
export async function post(
  url: string,
  body: unknown,
  headers: Record<string, string> = {},
  { signal, until }: Patience = {},
): Promise<ChatAnswer> {
  const enough = new AbortController();
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
    signal: signal ?? enough.signal,
  });
  const decoder = new TextDecoder();
  let text = "";
  let isWhole = true;
  try {
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      if (until !== undefined && text.includes(until)) enough.abort();
    }
  } catch {
    isWhole = false;
  }
  return { status: response.status, headers: response.headers, body: text, isWhole };
}

export function userSays(...contents: readonly string[]): ChatMessage[] {
  return contents.map((content) => ({ role: "user", content }));
}

/** The objects of the `data:` lines, without comments and the mark of the end. */
export function chunksIn(body: string): ChatChunk[] {
  return body
    .split(/\r?\n\r?\n/)
    .filter((event) => event.startsWith("data: ") && event !== "data: [DONE]")
    .map((event) => v.parse(v.pipe(v.string(), v.parseJson(), Chunk), event.slice(6)));
}

export function textIn(body: string): string {
  return chunksIn(body)
    .map(({ choices }) => choices?.[0]?.delta?.content ?? "")
    .join("");
}

/** Starts a request, lets the vendor take it (its only fault is used up by that), and then gives it up. */
export async function giveUpOnceTaken(
  settings: () => { readonly fault?: string },
  start: (signal: AbortSignal) => Promise<unknown>,
): Promise<void> {
  const patience = new AbortController();
  const request = start(patience.signal).then(
    () => "answered",
    () => "given up",
  );
  while (settings().fault !== undefined) await new Promise(setImmediate);
  patience.abort();
  const outcome = await request;
  if (outcome !== "given up") throw new Error(`the request was ${outcome}`);
}
