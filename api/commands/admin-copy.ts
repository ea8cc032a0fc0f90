import { addressOf } from "../../storage/postgres/postgres-address.js";
import { parseCommandLine } from "./command.js";
import { UsageFault } from "./command-fault.js";
import { type CommandSettings, existingDatabaseFile } from "./data-folder.js";
import type { Terminal } from "./terminal.js";
import { printTable } from "./text-table.js";

/** What was asked for: where to, or else to DATABASE_URL. */
export function readCopyRequest(args: readonly string[]): string | undefined {
  const options = { to: { type: "string" } } as const;
  const { values } = parseCommandLine({ args: [...args], options });
  if (values.to !== undefined && !/^postgres(?:ql)?:\/\//.test(values.to)) {
    throw new UsageFault("--to: expected an address that begins with postgres://");
  }
  return values.to;
}

/** Copies the file in DATA_DIR to PostgreSQL, while no server runs on either. */
export async function copyStore(
  { dataDir, databaseUrl }: CommandSettings,
  terminal: Terminal,
  to: string | undefined,
): Promise<void> {
  const url = to ?? databaseUrl;
  if (url === undefined) throw new UsageFault("say where to: --to postgres://…, or DATABASE_URL");
  const filePath = existingDatabaseFile(dataDir);
  const { copyToPostgres } = await import("../../storage/postgres/copy-to-postgres.js");
  const tables = await copyToPostgres(filePath, url);
  const rows = tables.map(({ table, rows }) => [{ text: table }, { text: String(rows) }]);
  printTable(terminal, ["table", "rows"], rows);
  terminal.print(
    `Copied ${filePath} to PostgreSQL at ${addressOf(url)}: rows and sums of every table are the same.`,
  );
  terminal.print(
    "Start the server with DATABASE_URL now. Keep DATA_DIR: recordings and generated keys stay there.",
  );
}
