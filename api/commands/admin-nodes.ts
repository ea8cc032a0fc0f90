import { ALL_NODES } from "../../engine/nodes/node-letter.js";
import { SILENCE_MAX_MS } from "../../engine/nodes/node-registry.js";
import type { Database } from "../../storage/database.js";
import type { NodeRecord } from "../../storage/node-store.js";
import { CommandFault, UsageFault } from "./command-fault.js";
import type { Terminal } from "./terminal.js";
import { type Cell, printTable } from "./text-table.js";

type Work = (database: Database, terminal: Terminal) => Promise<void>;

/** What is to be done, before anything is opened. */
export function nodeWork(args: readonly string[]): Work {
  const [verb, name, ...more] = args;
  if (verb === undefined) return listNodes;
  if (verb === "drain" && name !== undefined && more.length === 0) {
    return (database, terminal) => drainNode(database, terminal, name);
  }
  throw new UsageFault(`"${["nodes", ...args].join(" ")}" is not a complete command`);
}

async function listNodes(database: Database, terminal: Terminal): Promise<void> {
  demandNodes(database);
  const nodes = await database.nodes.list();
  if (nodes.length === 0) {
    terminal.print("No server runs on this database.");
    return;
  }
  const rows = nodes.map((node): Cell[] => [
    { text: node.name },
    { text: stateOf(node) },
    { text: String(node.calls), isRightAligned: true },
    { text: node.capacity === 0 ? "-" : String(node.capacity), isRightAligned: true },
    { text: node.load.toFixed(2), isRightAligned: true },
    { text: node.version },
    { text: node.address ?? "-" },
  ]);
  printTable(terminal, ["node", "state", "calls", "at most", "load", "version", "address"], rows);
}

async function drainNode(database: Database, terminal: Terminal, name: string): Promise<void> {
  const mail = demandNodes(database);
  if (!(await database.nodes.drain(name))) throw new CommandFault(`there is no node ${name}`);
  // Else it would learn of it with its next heartbeat.
  await mail.post(ALL_NODES, "");
  terminal.print(`${name} takes no new calls until it is started again; those in progress finish.`);
}

function demandNodes({ mail }: Database) {
  if (mail !== undefined) return mail;
  throw new CommandFault("a file has one server; several work on PostgreSQL (DATABASE_URL)");
}

function stateOf({ isLost, silentMs, isDraining, isTaking }: NodeRecord): string {
  if (isLost === 1 || silentMs >= SILENCE_MAX_MS) return "silent";
  if (isDraining === 1) return "draining";
  return isTaking === 1 ? "takes calls" : "takes none";
}
