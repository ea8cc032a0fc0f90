import * as v from "valibot";
import { REQUEST_ERROR_CODES, type RequestErrorCode } from "../../storage/parley-error.js";

/** A short text that people read: names and labels. */
const NAME_CHARACTERS_MAX = 200;
const ID_CHARACTERS_MAX = 128;
/** Free-form objects are stored as JSON beside the record; this many keys is more than any vendor takes. */
const FREE_FORM_KEYS_MAX = 100;

/** Text that a database and a vendor take as it is: without NUL and without halves of surrogate pairs. */
const WHOLE_TEXT = /^[^\0\p{Cs}]*$/u;
/** For people to read: a page of documentation makes up noise that fits the pattern otherwise. */
const ANY_TEXT = ["…"];

// Every field of a request is made by these or is `worded`, so that a refusal says what was expected and never what came.

const JSON_OBJECT = "a JSON object";

/** What a refusal says of a value, in the words of its schema's description. */
export function expectation(schema: v.GenericSchema | undefined): string {
  return `expected ${(schema && v.getDescription(schema)) ?? JSON_OBJECT}`;
}

/** Says the schema's expectation of whatever is wrong in a value, unless a part of it has words of its own. */
export function worded<Schema extends v.GenericSchema>(schema: Schema): Schema {
  return v.config(schema, { message: expectation(schema) });
}

/** An object of a request, which says of a field that is missing what that field should be. */
export function requestObject<Entries extends v.ObjectEntries>(
  entries: Entries,
  description = JSON_OBJECT,
) {
  return v.object(entries, ({ path }) =>
    path === undefined ? `expected ${description}` : expectation(entries[String(path[0].key)]),
  );
}

export function objectField<Entries extends v.ObjectEntries>(subject: string, entries: Entries) {
  const description = `${subject}, an object`;
  return v.pipe(requestObject(entries, description), v.description(description));
}

/** As `objectField`, where a field that does not exist is an error, which names it: a misspelt one would have no effect. */
export function knownObjectField<Entries extends v.ObjectEntries>(
  subject: string,
  entries: Entries,
) {
  const description = `${subject}, an object`;
  const known = Object.keys(entries).join(", ");
  const object = v.strictObject(entries, ({ path }) => {
    const key = path?.[0].key;
    if (typeof key !== "string") return `expected ${description}`;
    const entry = entries[key];
    return entry === undefined ? `expected one of the fields ${known}` : expectation(entry);
  });
  return v.pipe(object, v.description(description));
}

const renamedFields = new WeakSet<object>();

/**
 * Entries for former names of fields, each with the present name: a request with one is refused, and the error names the
 * present one. Neither the document nor the types list them.
 */
export function renamed(names: Readonly<Record<string, string>>): object {
  return Object.fromEntries(
    Object.entries(names).map(([former, present]) => {
      const description = `${present}, the present name of this field`;
      const never = v.pipe(v.never(`expected ${description}`), v.description(description));
      const field = v.optional(never);
      renamedFields.add(field);
      return [former, field];
    }),
  );
}

/** The names in an object's entries that are former names of fields. */
export function renamedNames(entries: object): string[] {
  const isRenamed = (field: unknown): boolean =>
    typeof field === "object" && field !== null && renamedFields.has(field);
  return Object.entries(entries)
    .filter(([, field]) => isRenamed(field))
    .map(([name]) => name);
}

/** A moment in a request, with its zone. */
export function momentField(subject: string) {
  return worded(
    v.pipe(
      v.string(),
      v.isoTimestamp(),
      v.examples(["2026-01-31T12:00:00.000Z"]),
      v.description(`${subject}, a moment as ISO 8601 with its zone`),
    ),
  );
}

/** Surrounding blanks are dropped; what is left must not be empty. */
export function nameField(subject: string, charactersMax = NAME_CHARACTERS_MAX) {
  return worded(
    v.pipe(
      v.string(),
      v.trim(),
      v.nonEmpty(),
      v.maxLength(charactersMax),
      v.regex(WHOLE_TEXT),
      v.examples(ANY_TEXT),
      v.description(`${subject}, text of 1 to ${charactersMax} characters`),
    ),
  );
}

export function textField(subject: string, charactersMax: number, charactersMin = 0) {
  const bounds = charactersMin === 0 ? "at most" : `${charactersMin} to`;
  return worded(
    v.pipe(
      v.string(),
      v.minLength(charactersMin),
      v.maxLength(charactersMax),
      v.regex(WHOLE_TEXT),
      v.examples(ANY_TEXT),
      v.description(`${subject}, text of ${bounds} ${charactersMax} characters`),
    ),
  );
}

export function idField(subject: string) {
  return worded(
    v.pipe(
      v.string(),
      v.nonEmpty(),
      v.maxLength(ID_CHARACTERS_MAX),
      v.regex(WHOLE_TEXT),
      v.examples(ANY_TEXT),
      v.description(`${subject}, text of 1 to ${ID_CHARACTERS_MAX} characters`),
    ),
  );
}

export function numberField(subject: string, min: number, max: number) {
  return worded(
    v.pipe(
      v.number(),
      v.minValue(min),
      v.maxValue(max),
      v.description(`${subject}, a number from ${min} to ${max}`),
    ),
  );
}

export function wholeNumberField(subject: string, min: number, max: number) {
  return worded(
    v.pipe(
      v.number(),
      v.integer(),
      v.minValue(min),
      v.maxValue(max),
      v.description(`${subject}, a whole number from ${min} to ${max}`),
    ),
  );
}

export function choiceField<const Options extends readonly [string, ...string[]]>(
  subject: string,
  options: Options,
) {
  return worded(
    v.pipe(
      v.picklist(options),
      v.description(`${subject}, one of ${options.map((option) => `"${option}"`).join(", ")}`),
    ),
  );
}

export function flagField(subject: string) {
  return worded(v.pipe(v.boolean(), v.description(`${subject}, true or false`)));
}

export function freeFormField(subject: string) {
  return worded(
    v.pipe(
      v.record(v.string(), v.unknown()),
      v.maxEntries(FREE_FORM_KEYS_MAX),
      v.description(`${subject}, an object of at most ${FREE_FORM_KEYS_MAX} fields`),
    ),
  );
}

interface Bounds {
  readonly min: number;
  readonly max: number;
}

/** A whole number in a query string. Inside, it is a number. */
export function wholeNumberParameter(
  subject: string,
  { preset, ...bounds }: Bounds & { readonly preset: number },
) {
  return v.optional(queryNumber(subject, bounds), String(preset));
}

/** As `wholeNumberParameter`, of a query that means something else without it. */
export function optionalWholeNumberParameter(subject: string, bounds: Bounds) {
  return v.optional(queryNumber(subject, bounds));
}

function queryNumber(subject: string, { min, max }: Bounds) {
  return worded(
    v.pipe(
      v.string(),
      v.regex(/^-?\d{1,15}$/),
      v.transform(Number),
      v.number(),
      v.integer(),
      v.minValue(min),
      v.maxValue(max),
      v.description(`${subject}, a whole number from ${min} to ${max}`),
    ),
  );
}

// Fields of answers.

export const Timestamp = v.pipe(
  v.string(),
  v.isoTimestamp(),
  v.examples(["2026-01-31T12:00:00.000Z"]),
  v.description("moment in UTC, ISO 8601"),
);
export const Id = v.string();
export const Category = v.picklist(["llm", "tts", "stt"]);
export const FreeForm = v.record(v.string(), v.unknown());
export const Count = v.pipe(v.number(), v.integer(), v.minValue(0));
/** What every delete answers. */
export const Success = v.object({ success: v.literal(true) });
const REQUEST_CODES = Object.keys(REQUEST_ERROR_CODES) as RequestErrorCode[];

export const ErrorBody = v.object({
  error: v.pipe(
    v.string(),
    v.description("names the field, where there is one, and what was expected"),
  ),
  code: v.pipe(v.picklist(REQUEST_CODES), v.description("what went wrong, for programs")),
  details: v.optional(v.array(v.object({ path: v.string(), message: v.string() }))),
  requestId: v.optional(v.pipe(v.string(), v.description("of a 500: finds the cause in the log"))),
});
