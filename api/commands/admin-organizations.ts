import { canonicalEmail } from "../../engine/tenancy/people/email-address.js";
import type { OrganizationRecord } from "../../storage/records.js";
import type { AdminServices } from "./admin-store.js";
import { printable, type Terminal } from "./terminal.js";
import { type Cell, printTable } from "./text-table.js";

const HEADINGS = ["status", "plan", "owner", "organization", "since"];

export async function listOrganizations(
  { organizations }: AdminServices,
  terminal: Terminal,
): Promise<void> {
  const all = await organizations.list();
  if (all.length === 0) {
    terminal.print("There is no organization yet; setup makes the first one.");
    return;
  }
  const rows = all.map(({ organization, planSlug }): Cell[] => [
    { text: organization.status, style: organization.status === "active" ? "green" : "yellow" },
    { text: planSlug },
    { text: organization.ownerEmail },
    { text: organization.name },
    { text: new Date(organization.createdAtMs).toISOString().slice(0, 10) },
  ]);
  printTable(terminal, HEADINGS, rows);
}

export function activate(
  services: AdminServices,
  terminal: Terminal,
  email: string,
): Promise<void> {
  return changeStatus(services, terminal, email, "active");
}

export function suspend(services: AdminServices, terminal: Terminal, email: string): Promise<void> {
  return changeStatus(services, terminal, email, "pending");
}

export async function changePlan(
  { organizations }: AdminServices,
  terminal: Terminal,
  email: string,
  slug: string,
): Promise<void> {
  const before = await find(organizations, email);
  const organization = await organizations.changePlan(email, slug);
  const change =
    before?.planSlug === slug
      ? `has the plan ${slug} already`
      : `now has the plan ${slug} (before: ${before?.planSlug ?? "none"})`;
  terminal.print(`${named(organization)} ${change}.`);
}

async function changeStatus(
  { organizations }: AdminServices,
  terminal: Terminal,
  email: string,
  status: OrganizationRecord["status"],
): Promise<void> {
  const before = await find(organizations, email);
  const organization =
    status === "active" ? await organizations.activate(email) : await organizations.suspend(email);
  const was = before?.organization.status;
  const change = was === status ? `is ${status} already` : `is now ${status} (before: ${was})`;
  terminal.print(`${named(organization)} ${change}.`);
}

async function find(organizations: AdminServices["organizations"], email: string) {
  const owner = canonicalEmail(email);
  return (await organizations.list()).find(({ organization }) => organization.ownerEmail === owner);
}

function named({ name, ownerEmail }: OrganizationRecord): string {
  return `"${printable(name)}" of ${printable(ownerEmail)}`;
}
