import type { LogFields, Logger } from "../../engine/log.js";

export interface LogLine {
  readonly level: keyof Logger;
  readonly fields: LogFields;
  readonly message: string;
}

/** Keeps every line for a test to look at. */
export class RecordingLogger implements Logger {
  readonly lines: LogLine[] = [];

  debug(fields: LogFields, message: string): void {
    this.lines.push({ level: "debug", fields, message });
  }

  info(fields: LogFields, message: string): void {
    this.lines.push({ level: "info", fields, message });
  }

  warn(fields: LogFields, message: string): void {
    this.lines.push({ level: "warn", fields, message });
  }

  error(fields: LogFields, message: string): void {
    this.lines.push({ level: "error", fields, message });
  }

  ofLevel(level: keyof Logger): readonly LogLine[] {
    return this.lines.filter((line) => line.level === level);
  }
}
