import { X509Certificate } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { parseEnv } from "node:util";
import * as v from "valibot";
import { ParleyError } from "../storage/parley-error.js";
import { isEscaped } from "../storage/postgres/postgres-address.js";

/** Variables by name, as a process is given them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** All that is wrong with the environment, one line each. */
export class ConfigError extends ParleyError {
  override readonly name = "ConfigError";
  readonly code = "configuration_invalid";
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(`the configuration is wrong:\n${faults.map((fault) => `  ${fault}`).join("\n")}`);
    this.faults = faults;
  }
}

/** Words with commas between. */
export const list = v.pipe(
  v.optional(v.string(), ""),
  v.transform((words) =>
    words
      .split(",")
      .map((word) => word.trim())
      .filter((word) => word !== ""),
  ),
);

export const flag = v.pipe(
  v.optional(v.picklist(["true", "false", "1", "0"], "expected true or false"), "false"),
  v.transform((word) => word === "true" || word === "1"),
);

export function wholeNumber(fallback: number, min: number, max: number) {
  const message = `expected a whole number from ${min} to ${max}`;
  return v.pipe(
    v.optional(
      v.pipe(v.string(), v.regex(/^\d+$/, message), v.transform(Number)),
      String(fallback),
    ),
    v.minValue(min, message),
    v.maxValue(max, message),
  );
}

function address(protocols: readonly string[]) {
  const expected = `expected an address that begins with ${protocols.map((p) => `${p}//`).join(" or ")}`;
  const isAddress = (value: string) =>
    URL.canParse(value) && protocols.includes(new URL(value).protocol);
  return v.pipe(v.string(), v.check(isAddress, expected));
}

export const httpUrl = address(["http:", "https:"]);
export const webSocketUrl = address(["ws:", "wss:"]);
/** Says nothing of the value: part of it is a password. */
export const databaseUrl = v.pipe(
  v.string(),
  v.regex(
    /^postgres(?:ql)?:\/\//,
    "expected an address that begins with postgres:// or postgresql://",
  ),
  v.check(
    isEscaped,
    "expected postgres://user:password@host:5432/name; characters such as / ? # % @ : in the user's name or password have to be percent-encoded (/ is %2F, ? is %3F, # is %23, % is %25)",
  ),
);

/**
 * The text of a file that a person wrote, whatever their editor puts around it: a byte order mark is left out, and lines end with a
 * line feed. Throws a ConfigError where it is UTF-16, as Windows' Notepad and PowerShell may write it.
 */
export function textOfFile(path: string): string {
  return writtenText(readFileSync(path), path);
}

/** As `textOfFile`, of bytes that were read already. */
export function writtenText(bytes: Uint8Array, path: string): string {
  const [first, second] = bytes;
  const isMarked = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  // Without a mark: each second byte of plain text is 0.
  if (isMarked || bytes.subarray(0, UTF16_LOOK_BYTES).includes(0)) {
    throw new ConfigError([`${path} is not UTF-8 text but looks like UTF-16: save it as UTF-8`]);
  }
  // The decoder leaves the mark of UTF-8 out.
  return new TextDecoder().decode(bytes).replaceAll("\r\n", "\n");
}

/** Sets in `environment` what `.env` in the working directory says and the environment does not. */
export function loadEnvFile(environment: Record<string, string | undefined>, path = ".env"): void {
  if (!existsSync(path)) return;
  for (const [name, value] of Object.entries(parseEnv(textOfFile(path)))) {
    if (value !== undefined) environment[name] ??= value;
  }
}

const UTF16_LOOK_BYTES = 64;

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** The path of a PEM file with at least one certificate; parsed, its text. */
export const certificateFile = v.pipe(
  v.string(),
  v.rawTransform<string, string>(({ dataset, addIssue, NEVER }) => {
    try {
      const pem = textOfFile(dataset.value);
      const found = pem.match(CERTIFICATE) ?? [];
      if (found.length > 0 && found.every((one) => new X509Certificate(one).serialNumber !== "")) {
        return pem;
      }
    } catch {
      // A file that is not there and a text that is no certificate are the same fault to whoever set it.
    }
    addIssue({ message: "expected a file of certificates in PEM form" });
    return NEVER;
  }),
);

export const logLevel = v.optional(
  v.picklist(
    ["debug", "info", "warn", "error", "silent"],
    "expected debug, info, warn, error or silent",
  ),
  "info",
);

/** What speaks HTTP and WebSocket; `auto` is uWebSockets.js where it loads, else Node's own. */
export const httpBackend = v.optional(
  v.picklist(["auto", "uws", "node"], "expected auto, uws or node"),
  "auto",
);
export type BackendChoice = v.InferOutput<typeof httpBackend>;

/** Former names of variables, refused so that no setting is lost in silence. */
const RENAMED_VARIABLES: Readonly<Record<string, string>> = {
  EARLY_REPLY_WASTE_TOKENS_PER_HOUR: "PREEMPTIVE_WASTE_TOKENS_PER_HOUR",
  HTTP_FRONT: "HTTP_BACKEND",
};

function renamedVariables(given: Environment): readonly string[] {
  return Object.entries(RENAMED_VARIABLES)
    .filter(([former]) => given[former] !== undefined)
    .map(
      ([former, present]) => `${former}: expected ${present}, the present name of this variable`,
    );
}

/** Throws a ConfigError with everything that is wrong, `otherFaults` among it. */
export function parseSettings<Schema extends v.GenericSchema>(
  schema: Schema,
  environment: Environment,
  otherFaults: readonly string[] = [],
): v.InferOutput<Schema> {
  const given = variablesSet(environment);
  const parsed = v.safeParse(schema, given);
  const issues = parsed.success ? [] : parsed.issues;
  const faults = issues.map((issue) => `${v.getDotPath(issue)}: ${issue.message}`);
  const all = [...faults, ...otherFaults, ...renamedVariables(given)];
  if (!parsed.success || all.length > 0) throw new ConfigError(all);
  return parsed.output;
}

/** Every variable of a process, with the text that counts where it is not set; undefined where none does. */
export type Defaults = Readonly<Record<string, string | undefined>>;

/** For the documentation, which is held to it. */
export function defaultsOf(entries: v.ObjectEntries): Defaults {
  return v.parse(v.record(v.string(), v.optional(v.string())), v.getDefaults(v.object(entries)));
}

/** An empty variable counts as unset. */
export function variablesSet(environment: Environment): Environment {
  return Object.fromEntries(
    Object.entries(environment).filter(([, value]) => value !== undefined && value !== ""),
  );
}
