export interface ServerEvent {
  readonly name: string;
  readonly data: string;
}

/** Server-sent events of an answer to a POST, which the browser's own EventSource cannot ask for. */
export async function* serverEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let text = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      text += decoder.decode(value, { stream: !done });
      const blocks = text.split(/\r?\n\r?\n/);
      text = blocks.pop() ?? "";
      for (const block of blocks) {
        const event = eventOf(block);
        if (event !== undefined) yield event;
      }
      if (done) return;
    }
  } finally {
    await reader.cancel();
  }
}

/** Undefined of a block without data, such as a comment that keeps the line open. */
export function eventOf(block: string): ServerEvent | undefined {
  const lines = block.split(/\r?\n/);
  const valuesOf = (field: string) =>
    lines
      .filter((line) => line.startsWith(`${field}:`))
      .map((line) => line.slice(field.length + 1).trimStart());
  const data = valuesOf("data");
  if (data.length === 0) return undefined;
  return { name: valuesOf("event").at(-1) ?? "message", data: data.join("\n") };
}
