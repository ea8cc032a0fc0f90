import * as v from "valibot";
import { VendorError } from "./contracts.js";

/** Parses a vendor's JSON; invalid JSON or a wrong shape is a `badAnswer`. */
export function parseAnswer<Schema extends v.GenericSchema>(
  vendor: string,
  schema: Schema,
  text: string,
): v.InferOutput<Schema> {
  const parsed = tryParse(schema, text);
  if (parsed === undefined) throw unreadable(vendor);
  return parsed.value;
}

/** Parses a vendor's JSON; undefined for invalid JSON or a wrong shape, where a message may be skipped. */
export function tryParse<Schema extends v.GenericSchema>(
  schema: Schema,
  text: string,
): { readonly value: v.InferOutput<Schema> } | undefined {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return undefined;
  }
  const parsed = v.safeParse(schema, json);
  return parsed.success ? { value: parsed.output } : undefined;
}

/** Has no cause: that would quote words of the call. */
export function unreadable(vendor: string): VendorError {
  return new VendorError(vendor, "badAnswer", `${vendor}: unreadable answer`);
}
