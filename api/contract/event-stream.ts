import type { GenericSchema, InferOutput } from "valibot";

/** The events of a stream by name, each with the schema of its data. */
export type StreamEvents = Readonly<Record<string, GenericSchema>>;

export type SendEvent<Events extends StreamEvents> = <Name extends keyof Events & string>(
  name: Name,
  data: InferOutput<Events[Name]>,
) => void;

/** What the handler of a streaming route answers with: the events are made while they are sent. */
export interface EventStream<Events extends StreamEvents> {
  /** Called once; the answer ends when it settles. `signal` aborts when nobody reads any more. */
  readonly produce: (send: SendEvent<Events>, signal: AbortSignal) => Promise<void>;
}
