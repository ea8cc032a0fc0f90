import { type NodeState, nodeState } from "../../engine/cluster/node-registry.js";
import type { Database } from "../../storage/database.js";
import type { AdminServices } from "./admin-store.js";
import { CommandFault, UsageFault } from "./command-fault.js";
import type { Terminal } from "./terminal.js";
import { type Cell, printTable } from "./text-table.js";

const STATES: Readonly<Record<NodeState, string>> = {
  silent: "silent",
  draining: "draining",
  taking: "takes calls",
  full: "takes none",
};

type Work = (database: Database, services: AdminServices, terminal: Terminal) => Promise<void>;

/** What is to be done, before anything is opened. */
export function nodeWork(args: readonly string[]): Work {
  const [verb, name, ...more] = args;
  if (verb === undefined) return listNodes;
  if (verb === "drain" && name !== undefined && more.length === 0) {
    return (database, services, terminal) => drain(database, services, terminal, name);
  }
  throw new UsageFault(`"${["nodes", ...args].join(" ")}" is not a complete command`);
}

async function listNodes(
  database: Database,
  _services: AdminServices,
  terminal: Terminal,
): Promise<void> {
  demandNodes(database);
  const nodes = await database.nodes.list();
  if (nodes.length === 0) {
    terminal.print("No server runs on this database.");
    return;
  }
  const rows = nodes.map((node): Cell[] => [
    { text: node.name },
    { text: STATES[nodeState(node)] },
    { text: String(node.calls), isRightAligned: true },
    { text: node.capacity === 0 ? "-" : String(node.capacity), isRightAligned: true },
    { text: node.load.toFixed(2), isRightAligned: true },
    { text: node.version },
    { text: node.address ?? "-" },
  ]);
  printTable(terminal, ["node", "state", "calls", "at most", "load", "version", "address"], rows);
}

async function drain(
  database: Database,
  { drainNode }: AdminServices,
  terminal: Terminal,
  name: string,
): Promise<void> {
  demandNodes(database);
  await drainNode(name);
  terminal.print(`${name} takes no new calls until it is started again; those in progress finish.`);
}

function demandNodes({ mail }: Database): void {
  if (mail !== undefined) return;
  throw new CommandFault("a file has one server; several work on PostgreSQL (DATABASE_URL)");
}
