import * as v from "valibot";

/** Reads the output of `writeJson`. Throws if the stored text does not have this shape, without repeating it. */
export function readJson<Schema extends v.GenericSchema>(
  column: string,
  schema: Schema,
  text: string,
): v.InferOutput<Schema> {
  const result = v.safeParse(schema, parse(column, text));
  if (result.success) return result.output;
  const path = v.getDotPath(result.issues[0]) ?? "";
  throw new Error(`the stored ${column} is not as expected at "${path}"`);
}

export function writeJson(value: object): string {
  return JSON.stringify(value);
}

function parse(column: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`the stored ${column} is not JSON`);
  }
}

export const jsonObject = v.record(v.string(), v.unknown());

export const stringList = v.array(v.string());

export const providerModels = v.array(
  v.object({
    modelId: v.string(),
    label: v.string(),
    description: v.exactOptional(v.string()),
  }),
);

export const providerTest = v.object({
  ok: v.boolean(),
  latencyMs: v.number(),
  error: v.nullable(v.string()),
  atMs: v.number(),
});
