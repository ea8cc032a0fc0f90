export interface StreamedEvent {
  readonly name: string;
  readonly data: unknown;
}

/** The whole events of a stream of server-sent events; one that has no end yet is left out. */
export function readEvents(text: string): readonly StreamedEvent[] {
  return text
    .split("\n\n")
    .slice(0, -1)
    .map((block) => {
      const [, name = "", data = ""] = /^event: (\w+)\ndata: (.*)$/.exec(block) ?? [];
      return { name, data: JSON.parse(data) };
    });
}
