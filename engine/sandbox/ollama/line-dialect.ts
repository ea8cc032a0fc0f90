import type { Reply, SimulatedToolCall, StreamDialect } from "../language-model/reply-stream.js";

/** One line of an answer, or the whole of it, without the fields that end it. */
export type AnswerLine = (model: string, text: string, calls: readonly object[]) => object;

export function chatLine(model: string, content: string, calls: readonly object[]): object {
  const message = {
    role: "assistant",
    content,
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
  return { model, created_at: new Date().toISOString(), message };
}

export function generateLine(model: string, response: string): object {
  return { model, created_at: new Date().toISOString(), response };
}

/** Lines of JSON, one a token; arguments of tools are objects. */
export function lineDialect(model: string, request: number, line: AnswerLine): StreamDialect {
  const write = (body: object): string => `${JSON.stringify(body)}\n`;
  const part = (text: string, calls: readonly object[] = []): string =>
    write({ ...line(model, text, calls), done: false });
  return {
    contentType: "application/x-ndjson",
    headers: {},
    opening: () => "",
    token: (text) => part(text),
    toolCall: (call, position) => [part("", [wholeCall(call, request, position)])],
    closing: (reply, isWhole) =>
      isWhole ? write({ ...line(model, "", []), ...ending(reply) }) : "",
    error: () => write({ error: "the sandbox was told to fail here" }),
    filler: () => part(""),
  };
}

/** The answer to a request without `stream`. */
export function wholeAnswer(
  model: string,
  request: number,
  line: AnswerLine,
  reply: Reply,
): object {
  const calls = reply.toolCalls.map((call, position) => wholeCall(call, request, position));
  return { ...line(model, reply.tokens.join(""), calls), ...ending(reply) };
}

function wholeCall(call: SimulatedToolCall, request: number, index: number): object {
  const called = { index, name: call.name, arguments: call.arguments };
  return { id: `call_${request}_${index}`, function: called };
}

/** Counters that are zero are left out, as the real server leaves them out. */
function ending({ finishReason, promptTokens, completionTokens }: Reply): object {
  const durations = { total_duration: 12_000_000, load_duration: 1_000_000 };
  return {
    done: true,
    done_reason: finishReason === "length" ? "length" : "stop",
    ...durations,
    prompt_eval_count: promptTokens,
    prompt_eval_duration: 2_000_000,
    ...(completionTokens === 0 ? {} : { eval_count: completionTokens, eval_duration: 9_000_000 }),
  };
}
