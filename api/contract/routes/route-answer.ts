import * as v from "valibot";
import type { StreamEvents } from "../event-stream.js";
import { ErrorBody } from "../fields.js";

export function ok<Schema extends v.GenericSchema>(description: string, schema: Schema) {
  return { status: 200, description, schema };
}

/** An answer of server-sent events, which ends after the last one. */
export function streamed<Events extends StreamEvents>(description: string, events: Events) {
  return { status: 200, description, schema: v.string(), events };
}

/** An answer that is a file. */
export function downloaded(description: string, contentType: string) {
  return { status: 200, description, schema: v.string(), download: contentType };
}

export function created<Schema extends v.GenericSchema>(description: string, schema: Schema) {
  return { status: 201, description, schema };
}

export function refused(status: number, description: string, schema: v.GenericSchema = ErrorBody) {
  return { status, description, schema };
}
