import * as v from "valibot";
import { VendorError } from "./contracts.js";

/** Reads a vendor's JSON; what does not parse or does not fit is a `badAnswer`. */
export function parseAnswer<Schema extends v.GenericSchema>(
  vendor: string,
  schema: Schema,
  text: string,
): v.InferOutput<Schema> {
  const parsed = tryParse(schema, text);
  if (parsed === undefined) throw unreadable(vendor);
  return parsed.value;
}

/** Reads a vendor's JSON; undefined for what does not parse or does not fit, where a message may be skipped. */
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

/** Carries no cause: it would quote what was said in the call. */
export function unreadable(vendor: string): VendorError {
  return new VendorError(vendor, "badAnswer", `${vendor}: unreadable answer`);
}
