import { canonicalEmail } from "../../engine/tenancy/people/email-address.js";
import type { AdminServices } from "./admin-store.js";
import { UsageFault } from "./command-fault.js";
import { printable, type Terminal } from "./terminal.js";
import { type Cell, printTable } from "./text-table.js";

type Work = (services: AdminServices, terminal: Terminal) => Promise<void>;

/** What is to be done, before anything is opened. */
export function operatorWork(args: readonly string[]): Work {
  const [verb, email, ...more] = args;
  if (verb === "list" && email === undefined) return listOperators;
  if (verb === "grant" && email !== undefined && more.length === 0) {
    return (services, terminal) => grant(services, terminal, email);
  }
  if (verb === "revoke" && email !== undefined && more.length === 0) {
    return (services, terminal) => revoke(services, terminal, email);
  }
  throw new UsageFault(`"${["operator", ...args].join(" ")}" is not a complete command`);
}

async function listOperators({ operators }: AdminServices, terminal: Terminal): Promise<void> {
  const all = await operators.list();
  if (all.length === 0) {
    terminal.print("There is no operator; operator grant E-MAIL makes one of a user.");
    return;
  }
  const rows = all.map(({ email, name }): Cell[] => [{ text: email }, { text: name }]);
  printTable(terminal, ["e-mail", "name"], rows);
}

async function grant({ operators }: AdminServices, terminal: Terminal, email: string) {
  const change = (await operators.grant(email))
    ? "is now an operator of the platform"
    : "is an operator of the platform already";
  terminal.print(`${printable(canonicalEmail(email))} ${change}.`);
}

async function revoke({ operators }: AdminServices, terminal: Terminal, email: string) {
  const change = (await operators.revoke(email)) ? "is no operator any more" : "is no operator";
  terminal.print(`${printable(canonicalEmail(email))} ${change}.`);
}
