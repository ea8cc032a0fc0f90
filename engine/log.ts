/** Values that a log line carries beside its message: ids, counts, durations; never keys, bodies or what was said. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Where structured log lines go. An error stands under `error`, so that one serializer can shape all of them. */
export interface Logger {
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
}
