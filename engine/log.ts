import { pino } from "pino";
import { ValiError } from "valibot";
import { LogLines } from "./log-lines.js";
import { SystemClock } from "./time/clock.js";

const STANDARD_OUTPUT = 1;

/** Causes of an error that a log line tells. */
const CAUSES_MAX = 5;
/** What a line tells of an error beside its name, message and stack. Others may hold what was received: a body, a row. */
const ERROR_FIELDS = [
  "code",
  "errno",
  "syscall",
  "address",
  "port",
  "hostname",
  "severity",
  "table",
  "constraint",
  "vendor",
  "fault",
  "kind",
  "status",
  "statusCode",
  "requestId",
  "retryAfterMs",
] as const;

/** Values that a log line carries beside its message: ids, counts, durations; never keys, bodies or what was said. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Where structured log lines go. An error stands under `error`, so that one serializer can shape all of them. */
export interface Logger {
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
}

export type LogLevel = "debug" | "info" | "warn" | "error" | "silent";

/** JSON lines on standard output; `every` line has these fields. */
export function newLogger(level: LogLevel, every: LogFields | null = null): Logger {
  const options = {
    level,
    base: every,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { error: loggedError },
  };
  return pino(options, new LogLines(STANDARD_OUTPUT, lossLine, new SystemClock()));
}

/** An error as it stands in a log line, without what it quotes of data that could not be read. */
export function loggedError(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return { type: typeof error };
  const fields = new Map(Object.entries(error));
  const told = ERROR_FIELDS.flatMap((name) => {
    const value: unknown = fields.get(name);
    return typeof value === "string" || typeof value === "number" ? [[name, value] as const] : [];
  });
  const cause =
    error.cause === undefined || depth >= CAUSES_MAX
      ? {}
      : { cause: loggedError(error.cause, depth + 1) };
  const several =
    error instanceof AggregateError && depth < CAUSES_MAX
      ? { errors: error.errors.slice(0, CAUSES_MAX).map((each) => loggedError(each, depth + 1)) }
      : {};
  const message = isQuoting(error) ? "data has not the expected form" : error.message;
  const frames = (error.stack ?? "").split("\n").filter((line) => /^\s+at /.test(line));
  const stack = [`${error.name}: ${message}`, ...frames].join("\n");
  return { type: error.name, message, stack, ...Object.fromEntries(told), ...cause, ...several };
}

/** The messages of JSON.parse and of schemas hold pieces of what they were given. */
function isQuoting(error: Error): boolean {
  return error instanceof ValiError || (error instanceof SyntaxError && /JSON/.test(error.message));
}

function lossLine(lostLines: number, reason: string): string {
  const words = JSON.stringify({ lostLines, reason, msg: "lines of this log were lost" });
  return `{"level":"warn"${pino.stdTimeFunctions.isoTime()},${words.slice(1)}\n`;
}
