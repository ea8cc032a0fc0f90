interface UsageDay {
  readonly date: string;
  readonly calls: number;
  readonly minutes: number;
  readonly sttSeconds: number;
  readonly llmTokens: number;
  readonly ttsChars: number;
}

interface WaitsDay {
  readonly date: string;
  readonly turns: number;
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
}

const HEAD = "date,calls,minutes,sttSeconds,llmTokens,ttsChars,replies,waitP50Ms,waitP95Ms";

/** One line a day; what is not known of a day is left empty. All fields are dates and numbers, so none needs quotes. */
export function usageCsv(usage: readonly UsageDay[], waits: readonly WaitsDay[]): string {
  const waitsByDate = new Map(waits.map((day) => [day.date, day]));
  const lines = usage.map((day) => {
    const wait = waitsByDate.get(day.date);
    const fields = [day.date, day.calls, day.minutes, day.sttSeconds, day.llmTokens, day.ttsChars];
    return [...fields, wait?.turns ?? "", wait?.p50Ms ?? "", wait?.p95Ms ?? ""].join(",");
  });
  return `${[HEAD, ...lines].join("\r\n")}\r\n`;
}

export interface NamedShare {
  readonly name: string;
  readonly calls: number;
  readonly failed: number;
  readonly minutes: number;
  readonly llmTokens: number;
  readonly ttsChars: number;
}

const SHARE_HEAD = "name,calls,failed,minutes,llmTokens,ttsChars";

/** One line for each agent or key. A name may hold anything, also what a table would take for a formula. */
export function sharesCsv(shares: readonly NamedShare[]): string {
  const lines = shares.map(({ name, calls, failed, minutes, llmTokens, ttsChars }) =>
    [quoted(name), calls, failed, minutes, llmTokens, ttsChars].join(","),
  );
  return `${[SHARE_HEAD, ...lines].join("\r\n")}\r\n`;
}

function quoted(name: string): string {
  const harmless = /^[=+\-@\t\r]/.test(name) ? `'${name}` : name;
  return `"${harmless.replaceAll('"', '""')}"`;
}
