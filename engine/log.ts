import { pino } from "pino";
import { LogLines } from "./log-lines.js";
import { SystemClock } from "./time/clock.js";

const STANDARD_OUTPUT = 1;

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
    serializers: { error: pino.stdSerializers.err },
  };
  return pino(options, new LogLines(STANDARD_OUTPUT, lossLine, new SystemClock()));
}

function lossLine(lostLines: number, reason: string): string {
  const words = JSON.stringify({ lostLines, reason, msg: "lines of this log were lost" });
  return `{"level":"warn"${pino.stdTimeFunctions.isoTime()},${words.slice(1)}\n`;
}
