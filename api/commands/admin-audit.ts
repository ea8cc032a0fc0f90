import * as v from "valibot";
import type { AuditRecord } from "../../storage/tenancy/audit-record.js";
import type { AdminServices } from "./admin-store.js";
import { parseCommandLine } from "./command.js";
import { UsageFault } from "./command-fault.js";
import type { Terminal } from "./terminal.js";
import { type Cell, printTable } from "./text-table.js";

const ENTRIES_DEFAULT = 20;
/** More than anybody reads on a screen; a page of the store that is made in one go. */
const ENTRIES_MAX = 1_000;

const Limit = v.pipe(
  v.string(),
  v.regex(/^\d{1,4}$/),
  v.transform(Number),
  v.minValue(1),
  v.maxValue(ENTRIES_MAX),
);

export interface AuditRequest {
  /** The email address of an organization's owner; undefined: every organization and the platform itself. */
  readonly email: string | undefined;
  readonly limit: number;
}

export function readAuditRequest(args: readonly string[]): AuditRequest {
  const { positionals, values } = parseCommandLine({
    args: [...args],
    options: { limit: { type: "string", default: String(ENTRIES_DEFAULT) } },
    allowPositionals: true,
  });
  const [email, ...more] = positionals;
  if (more.length > 0) throw new UsageFault("give the e-mail of one owner, or none");
  const limit = v.safeParse(Limit, values.limit);
  if (limit.success) return { email, limit: limit.output };
  throw new UsageFault(`--limit: expected a whole number from 1 to ${ENTRIES_MAX}`);
}

/** Newest first. */
export async function showAudit(
  { auditTrail }: AdminServices,
  terminal: Terminal,
  { email, limit }: AuditRequest,
): Promise<void> {
  if (email === undefined) {
    printEntries(terminal, await auditTrail.listNewest(limit), ["organization"]);
    return;
  }
  const { items, total } = await auditTrail.listOfOwner(email, { limit, skip: 0 });
  printEntries(terminal, items, []);
  if (total > items.length) {
    terminal.print(`The newest ${items.length} of ${total}; --limit shows more.`);
  }
}

function printEntries(
  terminal: Terminal,
  entries: readonly AuditRecord[],
  more: readonly "organization"[],
): void {
  if (entries.length === 0) {
    terminal.print("Nothing has been changed yet.");
    return;
  }
  const headings = ["when", "who", "action", "of what", "fields", ...more];
  const rows = entries.map((entry): Cell[] => [
    { text: `${new Date(entry.atMs).toISOString().slice(0, 19)}Z` },
    { text: `${entry.actor.type} ${entry.actor.id}` },
    { text: entry.action },
    { text: `${entry.targetName} (${entry.targetId})` },
    { text: entry.changes.join(" ") },
    ...more.map(() => ({ text: entry.orgId ?? "platform" })),
  ]);
  printTable(terminal, headings, rows);
}
