import { checkDatabase } from "../../storage/database-check.js";
import { CommandFault } from "./command-fault.js";
import { existingDatabaseFile } from "./data-folder.js";
import { sizeText } from "./measures.js";
import type { Terminal } from "./terminal.js";
import { printTable } from "./text-table.js";

/** Reads the whole database; rejects with a CommandFault that lists what is wrong in it. */
export function checkStore(dataDir: string, terminal: Terminal): void {
  const filePath = existingDatabaseFile(dataDir);
  const { sizeBytes, findings, counts } = checkDatabase(filePath);
  if (counts.length > 0) {
    const rows = counts.map(({ table, rows }) => [{ text: table }, { text: String(rows) }]);
    printTable(terminal, ["table", "rows"], rows);
  }
  if (findings.length > 0) {
    const list = findings.map((finding) => `  ${finding}`).join("\n");
    throw new CommandFault(
      `${filePath} is damaged; restore a backup, or save what can be read with SQLite's .recover:\n${list}`,
    );
  }
  terminal.print(`The database is whole (${sizeText(sizeBytes)}).`);
}
