import { isFields } from "./tool-parameters.js";

type Fields = Readonly<Record<string, unknown>>;

/** An argument of a tool, as it is typed. */
export interface ArgumentField {
  readonly name: string;
  /** `json`: what no other field can hold, such as a list. */
  readonly kind: "text" | "number" | "boolean" | "choice" | "json";
  readonly description: string;
  readonly isRequired: boolean;
  /** The texts of a choice. */
  readonly choices: readonly string[];
}

/** What was typed into the fields, by name; one that is missing or empty is not given. */
export type TypedArguments = Readonly<Record<string, string>>;

/** The fields for the arguments that a tool's JSON schema describes. */
export function argumentFieldsOf(schema: Fields): readonly ArgumentField[] {
  const { properties, required } = schema;
  if (!isFields(properties)) return [];
  const names: readonly unknown[] = Array.isArray(required) ? required : [];
  return Object.entries(properties).map(([name, property]) => {
    const { description = "" } = isFields(property) ? property : {};
    const about = typeof description === "string" ? description : "";
    const isRequired = names.includes(name);
    return { name, description: about, isRequired, ...kindOf(property) };
  });
}

function kindOf(property: unknown): Pick<ArgumentField, "kind" | "choices"> {
  const { type, enum: options } = isFields(property) ? property : {};
  const texts = Array.isArray(options) ? options.filter((each) => typeof each === "string") : [];
  if (Array.isArray(options)) {
    return texts.length === options.length
      ? { kind: "choice", choices: texts }
      : { kind: "json", choices: [] };
  }
  const kind = type === "string" ? "text" : KINDS.find((each) => each.types.includes(type))?.kind;
  return { kind: kind ?? "json", choices: [] };
}

const KINDS: readonly {
  readonly kind: ArgumentField["kind"];
  readonly types: readonly unknown[];
}[] = [
  { kind: "number", types: ["number", "integer"] },
  { kind: "boolean", types: ["boolean"] },
];

/** The arguments that were typed; undefined while a field holds none of its kind. */
export function typedArguments(
  fields: readonly ArgumentField[],
  typed: TypedArguments,
): Fields | undefined {
  const given: [string, unknown][] = [];
  for (const field of fields) {
    const text = typed[field.name] ?? "";
    if (text === "") continue;
    const value = valueOf(field, text);
    if (value === undefined) return undefined;
    given.push([field.name, value]);
  }
  return Object.fromEntries(given);
}

/** Undefined for a text that is no value of that kind. */
export function valueOf({ kind }: Pick<ArgumentField, "kind">, text: string): unknown {
  switch (kind) {
    case "text":
    case "choice":
      return text;
    case "boolean":
      return text === "true";
    case "number":
      return text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : undefined;
    case "json":
      return parsed(text);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What the fields show of arguments that were written as JSON. */
export function typedFrom(fields: readonly ArgumentField[], given: Fields): TypedArguments {
  return Object.fromEntries(
    fields.flatMap(({ name, kind }) => {
      const value = given[name];
      if (value === undefined) return [];
      const isText = typeof value === "string" && kind !== "json";
      return [[name, isText ? value : JSON.stringify(value)]];
    }),
  );
}
