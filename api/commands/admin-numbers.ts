import {
  isPhoneVendorName,
  PHONE_VENDOR_NAMES,
} from "../../engine/telephony/telephony-settings.js";
import type { AdminServices } from "./admin-store.js";
import { UsageError } from "./command-error.js";
import { printable, type Terminal } from "./terminal.js";
import { type Cell, printTable } from "./text-table.js";

export async function listNumbers(
  { phoneNumbers }: AdminServices,
  terminal: Terminal,
): Promise<void> {
  const all = await phoneNumbers.list();
  if (all.length === 0) {
    terminal.print("No organization may call from any number yet. To allow one: number allow");
    return;
  }
  const rows = all.map(({ number, organization, vendor, agentName, createdAtMs }): Cell[] => [
    { text: number },
    { text: organization.ownerEmail },
    { text: organization.name },
    { text: vendor ?? "any" },
    { text: agentName ?? "first active" },
    { text: new Date(createdAtMs).toISOString().slice(0, 10) },
  ]);
  printTable(terminal, ["number", "owner", "organization", "vendor", "agent", "since"], rows);
}

export async function allowNumber(
  { phoneNumbers }: AdminServices,
  terminal: Terminal,
  email: string,
  number: string,
  vendor: string | undefined,
): Promise<void> {
  const { organization, isNew } = await phoneNumbers.allow(email, number, vendor);
  const name = printable(organization.name);
  // A SIP address cannot be a caller id.
  const words = number.startsWith("+")
    ? `"${name}" may ${isNew ? "now" : "already"} call from ${number}.`
    : `Calls to ${number} ${isNew ? "now reach" : "already reach"} "${name}".`;
  terminal.print(words);
}

export async function revokeNumber(
  { phoneNumbers }: AdminServices,
  terminal: Terminal,
  number: string,
): Promise<void> {
  const organization = await phoneNumbers.revoke(number);
  terminal.print(`"${printable(organization.name)}" may no longer call from ${number}.`);
}

export async function listTargets(
  { dialTargets }: AdminServices,
  terminal: Terminal,
): Promise<void> {
  const all = await dialTargets.list();
  if (all.length === 0) {
    terminal.print("No organization may call any target yet. To allow one: number reach");
    return;
  }
  const rows = all.map(({ organization, targets }): Cell[] => [
    { text: organization.ownerEmail },
    { text: organization.name },
    { text: targets.join(" ") },
  ]);
  printTable(terminal, ["owner", "organization", "may reach"], rows);
}

/** Parses the arguments before any database is opened. */
export function numberWork(
  positionals: readonly string[],
): (services: AdminServices, terminal: Terminal) => Promise<void> {
  const [verb, first, second, ...more] = positionals;
  if (verb === "list" && first === undefined) return listNumbers;
  if (verb === "allow" && first !== undefined && second !== undefined && more.length <= 1) {
    const [vendor] = more;
    if (vendor !== undefined && !isPhoneVendorName(vendor)) {
      throw new UsageError(`"${vendor}" is not one of ${PHONE_VENDOR_NAMES.join(", ")}`);
    }
    return (services, terminal) => allowNumber(services, terminal, first, second, vendor);
  }
  if (verb === "targets" && first === undefined) return listTargets;
  if (first !== undefined && second !== undefined && more.length === 0) {
    if (verb === "reach") {
      return async ({ dialTargets }, terminal) => {
        const isNew = await dialTargets.allow(first, second);
        terminal.print(
          isNew ? `They may now reach ${second}.` : `They may already reach ${second}.`,
        );
      };
    }
    if (verb === "unreach") {
      return async ({ dialTargets }, terminal) => {
        await dialTargets.revoke(first, second);
        terminal.print(`They may no longer reach ${second}.`);
      };
    }
  }
  if (verb === "revoke" && first !== undefined && second === undefined) {
    return (services, terminal) => revokeNumber(services, terminal, first);
  }
  throw new UsageError(`"${["number", ...positionals].join(" ")}" is not a complete command`);
}
