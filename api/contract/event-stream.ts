import type { GenericSchema, InferOutput } from "valibot";

/** The events of a stream by name, each with the schema of its data. */
export type StreamEvents = Readonly<Record<string, GenericSchema>>;

export type NamedEvent<Events extends StreamEvents> = {
  readonly [Name in keyof Events & string]: {
    readonly name: Name;
    readonly data: InferOutput<Events[Name]>;
  };
}[keyof Events & string];

/** Events that many streams send, in this order: their text is made once, for the first stream that sends them. */
export class EventBatch<Events extends StreamEvents> {
  readonly #events: readonly NamedEvent<Events>[];
  #text: string | undefined;

  constructor(events: readonly NamedEvent<Events>[]) {
    this.#events = events;
  }

  get text(): string {
    this.#text ??= this.#events.map(({ name, data }) => eventText(name, data)).join("");
    return this.#text;
  }
}

export interface EventSender<Events extends StreamEvents> {
  event<Name extends keyof Events & string>(name: Name, data: InferOutput<Events[Name]>): void;
  batch(events: EventBatch<Events>): void;
}

/** What the handler of a streaming route answers with: the events are made while they are sent. */
export interface EventStream<Events extends StreamEvents> {
  /** Called once; the answer ends when it settles. `signal` aborts when nobody reads any more. */
  readonly produce: (send: EventSender<Events>, signal: AbortSignal) => Promise<void>;
}

/** As the HTML standard wants server-sent events; JSON has no line breaks, so `data` is one line. */
export function eventText(name: string, data: unknown): string {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}
