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
  readonly failures: readonly { readonly endReason: string; readonly calls: number }[];
  readonly minutes: number;
  readonly llmTokens: number;
  readonly ttsChars: number;
}

const SHARE_HEAD = "name,calls,failed,minutes,llmTokens,ttsChars,failures";

/** One line for each agent or key. A name may hold anything, also what a table would take for a formula. */
export function sharesCsv(shares: readonly NamedShare[]): string {
  const lines = shares.map(({ name, calls, failed, failures, minutes, llmTokens, ttsChars }) => {
    const reasons = failures.map((each) => `${each.endReason} ${each.calls}`).join("; ");
    return [quoted(name), calls, failed, minutes, llmTokens, ttsChars, quoted(reasons)].join(",");
  });
  return `${[SHARE_HEAD, ...lines].join("\r\n")}\r\n`;
}

export interface VendorUse {
  readonly vendor: string;
  readonly category: string;
  readonly answered: number;
  readonly failed: number;
  readonly lastFault: string | null;
  readonly wastedMs: number;
  readonly faults: readonly {
    readonly fault: string;
    readonly model: string | null;
    readonly turns: number;
  }[];
}

const VENDOR_HEAD = "vendor,category,turnsAnswered,turnsFailed,lastFault,wastedMs,faults";

/** One line for each vendor; a fault is left empty where there was none. */
export function vendorsCsv(vendors: readonly VendorUse[]): string {
  const lines = vendors.map(
    ({ vendor, category, answered, failed, lastFault, wastedMs, faults }) => {
      const faultTexts = faults.map(({ fault, model, turns }) =>
        [fault, ...(model === null ? [] : [`of ${model}`]), turns].join(" "),
      );
      const counts = [category, answered, failed, lastFault ?? "", wastedMs];
      return [quoted(vendor), ...counts, quoted(faultTexts.join("; "))].join(",");
    },
  );
  return `${[VENDOR_HEAD, ...lines].join("\r\n")}\r\n`;
}

interface ListedCall {
  readonly _id: string;
  readonly agentId: string;
  readonly channel: string;
  readonly status: string;
  readonly startedAt: string;
  readonly durationSec?: number | undefined;
  readonly metrics: { readonly turnCount: number; readonly avgLatencyMs: number };
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  readonly analysis?:
    | {
        readonly success: boolean | null;
        readonly data: Readonly<Record<string, unknown>> | null;
      }
    | undefined;
}

const CALLS_HEAD =
  "startedAt,id,agent,direction,from,to,channel,status,endReason,durationSec,turns,avgLatencyMs,success";
/** Agents with many schemas have more fields: the first by name are columns. */
const ANALYSIS_COLUMNS_MAX = 40;

/** One line for each call, without what was said in it; the fields of its analysis are the last columns. */
export function callsCsv(
  calls: readonly ListedCall[],
  agentName: (agentId: string) => string,
): string {
  const fields = [...new Set(calls.flatMap(({ analysis }) => Object.keys(analysis?.data ?? {})))]
    .sort()
    .slice(0, ANALYSIS_COLUMNS_MAX);
  const lines = calls.map((call) => {
    const { metrics, analysis } = call;
    const fieldOf = (name: string) => {
      const value: unknown = analysis?.data?.[name];
      if (value === undefined || value === null) return "";
      return quoted(typeof value === "string" ? value : JSON.stringify(value));
    };
    const known = (name: string) => {
      const value = call.metadata?.[name];
      return typeof value === "string" ? quoted(value) : "";
    };
    return [
      call.startedAt,
      quoted(call._id),
      quoted(agentName(call.agentId)),
      known("direction"),
      known("from"),
      known("to"),
      call.channel,
      call.status,
      known("endReason"),
      call.durationSec ?? "",
      metrics.turnCount,
      metrics.avgLatencyMs,
      analysis?.success ?? "",
      ...fields.map(fieldOf),
    ].join(",");
  });
  const head = [CALLS_HEAD, ...fields.map((name) => quoted(`analysis.${name}`))].join(",");
  return `${[head, ...lines].join("\r\n")}\r\n`;
}

/** Nothing of an empty text. */
function quoted(name: string): string {
  if (name === "") return "";
  const harmless = /^[=+\-@\t\r]/.test(name) ? `'${name}` : name;
  return `"${harmless.replaceAll('"', '""')}"`;
}
