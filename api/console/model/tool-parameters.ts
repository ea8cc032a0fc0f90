/** What a model gives a tool, one by one. */
export interface ToolParameter {
  readonly name: string;
  readonly type: ParameterType;
  /** In words for the model. */
  readonly description: string;
  readonly isRequired: boolean;
}

export const PARAMETER_TYPES = ["string", "number", "integer", "boolean"] as const;
export type ParameterType = (typeof PARAMETER_TYPES)[number];

type Fields = Readonly<Record<string, unknown>>;

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The list that a JSON Schema means; undefined where it says more than a list can. */
export function parametersOf(schema: Fields): readonly ToolParameter[] | undefined {
  const { type = "object", properties = {}, required = [], ...others } = schema;
  if (type !== "object" || !isFields(properties) || !Array.isArray(required)) return undefined;
  if (Object.keys(others).length > 0) return undefined;
  if (required.some((name) => !Object.hasOwn(properties, String(name)))) return undefined;
  const found = Object.entries(properties).map(([name, property]) =>
    parameterOf(name, property, required.includes(name)),
  );
  return found.some((each) => each === undefined)
    ? undefined
    : found.filter((each) => each !== undefined);
}

/** The JSON Schema of such a list; a parameter without a name is not in it yet. */
export function schemaOf(parameters: readonly ToolParameter[]): Fields {
  const named = parameters.filter(({ name }) => name !== "");
  const properties = Object.fromEntries(
    named.map(({ name, type, description }) => [
      name,
      description === "" ? { type } : { type, description },
    ]),
  );
  const required = named.filter(({ isRequired }) => isRequired).map(({ name }) => name);
  const unique = [...new Set(required)];
  return { type: "object", properties, ...(unique.length === 0 ? {} : { required: unique }) };
}

function parameterOf(
  name: string,
  property: unknown,
  isRequired: boolean,
): ToolParameter | undefined {
  if (!isFields(property)) return undefined;
  const { type, description = "", ...others } = property;
  const known = PARAMETER_TYPES.find((each) => each === type);
  if (known === undefined || typeof description !== "string") return undefined;
  if (Object.keys(others).length > 0) return undefined;
  return { name, type: known, description, isRequired };
}
