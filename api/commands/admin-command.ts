import * as v from "valibot";
import { BucketError } from "../../engine/bucket/bucket.js";
import { type NodeState, nodeState } from "../../engine/cluster/node-registry.js";
import { canonicalEmail } from "../../engine/tenancy/people/email-address.js";
import { KEPT_MAX_MS } from "../../engine/tenancy/read-cache.js";
import { SystemClock } from "../../engine/time/clock.js";
import { VERSION } from "../../engine/version.js";
import type { Database } from "../../storage/database.js";
import { addressOf } from "../../storage/postgres/postgres-address.js";
import type { OrganizationRecord } from "../../storage/records.js";
import { checkDatabase } from "../../storage/sqlite/database-check.js";
import type { AuditRecord } from "../../storage/tenancy/audit-record.js";
import { checkRecordings } from "../start-up/recordings-bucket.js";
import {
  acceptKey,
  auditCredentials,
  checkKey,
  readCipher,
  resealCredentials,
} from "./admin-credentials.js";
import { numberWork } from "./admin-numbers.js";
import { readNewOrganization, setUp } from "./admin-setup.js";
import { type AdminServices, adminServices } from "./admin-store.js";
import { type Command, parseCommandLine } from "./command.js";
import { CommandError, UsageError } from "./command-error.js";
import {
  type CommandSettings,
  existingDatabaseFile,
  openAnyDatabase,
  openExistingDatabase,
  readCommandSettings,
} from "./data-folder.js";
import { sizeText } from "./measures.js";
import { printable, type Terminal } from "./terminal.js";
import { type Cell, printTable } from "./text-table.js";

const ENTRIES_DEFAULT = 20;
/** More rows than anybody reads on a screen, and one page of the store. */
const ENTRIES_MAX = 1_000;

const Limit = v.pipe(
  v.string(),
  v.regex(/^\d{1,4}$/),
  v.transform(Number),
  v.minValue(1),
  v.maxValue(ENTRIES_MAX),
);

export interface AuditRequest {
  /**
   * The email address of an organization's owner. If undefined, the trail of every organization and of the platform is
   * shown.
   */
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
  if (more.length > 0) throw new UsageError("expected the e-mail of one owner, or none");
  const limit = v.safeParse(Limit, values.limit);
  if (limit.success) return { email, limit: limit.output };
  throw new UsageError(`--limit: expected a whole number from 1 to ${ENTRIES_MAX}`);
}

/** Prints the newest entries first. */
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

interface CheckedStore {
  readonly sizeBytes: number;
  readonly findings: readonly string[];
  readonly counts: readonly { readonly table: string; readonly rows: number }[];
  readonly damaged: string;
}

/**
 * Reads the whole database and tests writing to the recordings bucket. Rejects with a CommandError that says what is
 * wrong.
 */
export async function checkStore(settings: CommandSettings, terminal: Terminal): Promise<void> {
  const { sizeBytes, findings, counts, damaged } = await checked(settings);
  if (counts.length > 0) {
    const rows = counts.map(({ table, rows }) => [{ text: table }, { text: String(rows) }]);
    printTable(terminal, ["table", "rows"], rows);
  }
  if (findings.length > 0) {
    const list = findings.map((finding) => `  ${finding}`).join("\n");
    throw new CommandError(`${damaged}:\n${list}`);
  }
  terminal.print(`The database is intact (${sizeText(sizeBytes)}).`);
  const place = await checkRecordings(settings, new SystemClock()).catch((error: unknown) => {
    throw error instanceof BucketError ? new CommandError(error.message) : error;
  });
  if (place !== undefined) terminal.print(`Recordings can be written to ${place}.`);
}

async function checked({ dataDir, databaseUrl }: CommandSettings): Promise<CheckedStore> {
  if (databaseUrl !== undefined) {
    const { checkPostgres } = await import("../../storage/postgres/postgres-check.js");
    const damaged = `the totals at ${addressOf(databaseUrl)} are wrong; restore a backup, or recount them`;
    return { ...(await checkPostgres(databaseUrl)), damaged };
  }
  const filePath = existingDatabaseFile(dataDir);
  const damaged = `${filePath} is damaged; restore a backup, or save what can be read with SQLite's .recover`;
  return { ...checkDatabase(filePath), damaged };
}

/** The target database: `--to` if given, or else DATABASE_URL. */
export function readCopyRequest(args: readonly string[]): string | undefined {
  const options = { to: { type: "string" } } as const;
  const { values } = parseCommandLine({ args: [...args], options });
  if (values.to !== undefined && !/^postgres(?:ql)?:\/\//.test(values.to)) {
    throw new UsageError("--to: expected an address that begins with postgres://");
  }
  return values.to;
}

/** Copies the SQLite file in DATA_DIR to PostgreSQL. No server may run on either database meanwhile. */
export async function copyStore(
  { dataDir, databaseUrl }: CommandSettings,
  terminal: Terminal,
  to: string | undefined,
): Promise<void> {
  const url = to ?? databaseUrl;
  if (url === undefined)
    throw new UsageError("expected a target: --to postgres://… or DATABASE_URL");
  const filePath = existingDatabaseFile(dataDir);
  const { copyToPostgres } = await import("../../storage/postgres/copy-to-postgres.js");
  const tables = await copyToPostgres(filePath, url);
  const rows = tables.map(({ table, rows }) => [{ text: table }, { text: String(rows) }]);
  printTable(terminal, ["table", "rows"], rows);
  terminal.print(
    `Copied ${filePath} to PostgreSQL at ${addressOf(url)}: row counts and sums of every table match.`,
  );
  terminal.print(
    "Start the server with DATABASE_URL now. Keep DATA_DIR: recordings and generated keys stay there.",
  );
}

const STATES: Readonly<Record<NodeState, string>> = {
  silent: "silent",
  draining: "draining",
  taking: "takes calls",
  full: "takes none",
};

type NodesWork = (database: Database, services: AdminServices, terminal: Terminal) => Promise<void>;

/** Parses the arguments before any database is opened. */
export function nodeWork(args: readonly string[]): NodesWork {
  const [verb, name, ...more] = args;
  if (verb === undefined) return listNodes;
  if (verb === "drain" && name !== undefined && more.length === 0) {
    return (database, services, terminal) => drain(database, services, terminal, name);
  }
  throw new UsageError(`"${["nodes", ...args].join(" ")}" is not a complete command`);
}

async function listNodes(
  database: Database,
  _services: AdminServices,
  terminal: Terminal,
): Promise<void> {
  requireNodes(database);
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
  requireNodes(database);
  await drainNode(name);
  terminal.print(`${name} takes no new calls until it is started again; those in progress finish.`);
}

function requireNodes({ messageBus }: Database): void {
  if (messageBus !== undefined) return;
  throw new CommandError(
    "a SQLite file has one server; several servers need PostgreSQL (DATABASE_URL)",
  );
}

type Work = (services: AdminServices, terminal: Terminal) => Promise<void>;

/** Parses the arguments before any database is opened. */
export function operatorWork(args: readonly string[]): Work {
  const [verb, email, ...more] = args;
  if (verb === "list" && email === undefined) return listOperators;
  if (verb === "grant" && email !== undefined && more.length === 0) {
    return (services, terminal) => grant(services, terminal, email);
  }
  if (verb === "revoke" && email !== undefined && more.length === 0) {
    return (services, terminal) => revoke(services, terminal, email);
  }
  throw new UsageError(`"${["operator", ...args].join(" ")}" is not a complete command`);
}

async function listOperators({ operators }: AdminServices, terminal: Terminal): Promise<void> {
  const all = await operators.list();
  if (all.length === 0) {
    terminal.print("There is no operator. To make a user one: operator grant E-MAIL");
    return;
  }
  const rows = all.map(({ email, name }): Cell[] => [{ text: email }, { text: name }]);
  printTable(terminal, ["e-mail", "name"], rows);
}

async function grant({ operators }: AdminServices, terminal: Terminal, email: string) {
  const change = (await operators.grant(email))
    ? "is now an operator of the platform"
    : "is already an operator of the platform";
  terminal.print(`${printable(canonicalEmail(email))} ${change}.`);
}

async function revoke({ operators }: AdminServices, terminal: Terminal, email: string) {
  const change = (await operators.revoke(email))
    ? "is no longer an operator"
    : "is not an operator";
  terminal.print(`${printable(canonicalEmail(email))} ${change}.`);
}

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
      ? `already has the plan ${slug}`
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
  const change = was === status ? `is already ${status}` : `is now ${status} (before: ${was})`;
  terminal.print(`${named(organization)} ${change}.`);
}

async function find(organizations: AdminServices["organizations"], email: string) {
  const owner = canonicalEmail(email);
  return (await organizations.list()).find(({ organization }) => organization.ownerEmail === owner);
}

function named({ name, ownerEmail }: OrganizationRecord): string {
  return `"${printable(name)}" of ${printable(ownerEmail)}`;
}

const USAGE = `Usage: npm run admin -- COMMAND

  org list                   every organization with its owner, status and plan
  org activate E-MAIL        opens the dashboard and calls to the organization of this owner
  org suspend E-MAIL         closes them again; calls in progress are told why and end
  org plan E-MAIL SLUG       moves the organization to another plan
  org limits E-MAIL [--agents N] [--calls N] [--call-seconds N] [--minutes N] [--providers N] [--plan-name NAME]
                             gives the organization a plan of its own: a copy of its plan with these limits
  operator list              who sees and looks after all organizations and servers in the console
  operator grant E-MAIL      makes the user with this e-mail one of them, at once
  operator revoke E-MAIL     ends that, at once
  number list                the numbers from which agents may call, and whose they are
  number allow E-MAIL NUMBER [VENDOR]
                              gives this owner's organization a number of your account: it is called there, and calls from it
  number revoke +NUMBER      takes it away again; calls in progress finish
  number targets             whom the agents of each organization may call or hand callers on to
  number reach E-MAIL TARGET lets them reach a number (+15550101000), all that begin so (+49), or a SIP address
  number unreach E-MAIL TARGET  takes it away again; calls in progress finish
  setup --name NAME --email E-MAIL [--password PASSWORD] [--plan SLUG]
                             makes an active organization with its owner, an API key, and an agent of the vendors
                             that are configured (start the server with their keys first); the plan is enterprise
  audit [E-MAIL] [--limit N] who changed what, newest first: in the organization of this owner, or everywhere
  credentials audit          how many sealed credentials each of the keys opens; changes nothing
  credentials reseal         moves all of them to ENCRYPTION_KEY; restart the server with it first, and with the
                             earlier key in ENCRYPTION_KEY_OLD
  credentials accept         takes ENCRYPTION_KEY for this database's own when the earlier key is lost; what that one
                             has sealed has to be entered again
  nodes                      the servers of the PostgreSQL database, with their versions and calls
  nodes drain NAME           that server takes no new calls, until it is started again; those in progress finish
  copy [--to postgres://…]   copies the file in DATA_DIR to PostgreSQL (or to DATABASE_URL) while no server runs, and
                             compares rows and sums; can be run again until a server has started there
  --version                  the version of this program
  check                      reads the whole database and says whether it is damaged; tries ENCRYPTION_KEY on the
                             stored credentials, and the bucket of recordings

It acts on the database in DATA_DIR (./data), or at DATABASE_URL, also while a server runs on it, and takes effect at once.
Exit code: 0 done, 1 failed, 2 not understood.`;

/** The platform administrator's command line. */
export function adminCommand(readSettings: () => CommandSettings = readCommandSettings): Command {
  return {
    usage: USAGE,
    async run(args, terminal) {
      const [noun, ...rest] = args;
      if (noun === "--version" && rest.length === 0) return terminal.print(VERSION);
      if (noun === "org") {
        const work = organizationWork(rest);
        return withExistingStore(readSettings(), (services) => work(services, terminal));
      }
      if (noun === "audit") {
        const request = readAuditRequest(rest);
        return withExistingStore(readSettings(), (services) =>
          showAudit(services, terminal, request),
        );
      }
      if (noun === "copy") {
        const to = readCopyRequest(rest);
        return copyStore(readSettings(), terminal, to);
      }
      if (noun === "check" && rest.length === 0) {
        return check(readSettings(), terminal);
      }
      if (noun === "number") {
        const parsed = parseCommandLine({ args: rest, options: {}, allowPositionals: true });
        const work = numberWork(parsed.positionals);
        return withExistingStore(readSettings(), (services) => work(services, terminal));
      }
      if (noun === "operator") {
        const work = operatorWork(rest);
        return withExistingStore(readSettings(), (services) => work(services, terminal));
      }
      if (noun === "nodes") {
        const work = nodeWork(rest);
        return withDatabase(readSettings(), (database) =>
          work(database, adminServices(database), terminal),
        );
      }
      if (noun === "credentials") return credentials(rest, readSettings, terminal);
      if (noun !== "setup") throw new UsageError(notUnderstood(args));
      const organization = readNewOrganization(rest);
      return withStore(readSettings(), (services) => setUp(services, terminal, organization));
    },
  };
}

/** Parses the arguments before any database is opened, so a wrong command line changes nothing. */
function organizationWork(args: readonly string[]): Work {
  if (args[0] === "limits") return limitsWork(args.slice(1));
  const { positionals } = parseCommandLine({
    args: [...args],
    options: {},
    allowPositionals: true,
  });
  const [verb, email, slug, ...more] = positionals;
  const count = positionals.length;
  if (verb === "list" && count === 1) return listOrganizations;
  if (verb === "activate" && email !== undefined && count === 2) {
    return (services, terminal) => activate(services, terminal, email);
  }
  if (verb === "suspend" && email !== undefined && count === 2) {
    return (services, terminal) => suspend(services, terminal, email);
  }
  if (verb === "plan" && email !== undefined && slug !== undefined && more.length === 0) {
    return (services, terminal) => changePlan(services, terminal, email, slug);
  }
  throw new UsageError(notUnderstood(["org", ...args]));
}

const LimitNumber = v.pipe(v.string(), v.regex(/^\d{1,9}$/), v.transform(Number));

function limitsWork(args: readonly string[]): Work {
  const limit = { type: "string" } as const;
  const { positionals, values } = parseCommandLine({
    args: [...args],
    options: {
      agents: limit,
      calls: limit,
      "call-seconds": limit,
      minutes: limit,
      providers: limit,
      "plan-name": limit,
    },
    allowPositionals: true,
  });
  const [email, ...more] = positionals;
  if (email === undefined || more.length > 0)
    throw new UsageError("expected the e-mail of one owner");
  if (Object.keys(values).length === 0)
    throw new UsageError("expected at least one limit to change");
  const number = (name: "agents" | "calls" | "call-seconds" | "minutes" | "providers") => {
    if (values[name] === undefined) return undefined;
    const parsed = v.safeParse(LimitNumber, values[name]);
    if (parsed.success) return parsed.output;
    throw new UsageError(`--${name}: expected a whole number`);
  };
  const providers = number("providers");
  const terms = {
    name: values["plan-name"],
    limits: {
      maxAgents: number("agents"),
      maxConcurrentCalls: number("calls"),
      maxCallDurationSec: number("call-seconds"),
      maxMonthlyMinutes: number("minutes"),
    },
    features: {
      maxCustomProviders: providers,
      customProviders: providers === undefined ? undefined : providers > 0,
    },
  };
  return async ({ organizations }, terminal) => {
    const { slug, name, limits, features } = await organizations.setOwnPlanOf(email, terms);
    terminal.print(`${printable(email)} now has the plan "${printable(name)}" (${slug}):`);
    terminal.print(
      `${limits.maxAgents} agents, ${limits.maxConcurrentCalls} calls at once of at most ${limits.maxCallDurationSec} s, ` +
        `${limits.maxMonthlyMinutes} minutes a month, ${features.maxCustomProviders} own providers.`,
    );
  };
}

async function credentials(
  args: readonly string[],
  readSettings: () => CommandSettings,
  terminal: Terminal,
): Promise<void> {
  const { positionals } = parseCommandLine({
    args: [...args],
    options: {},
    allowPositionals: true,
  });
  const [verb, ...more] = positionals;
  if ((verb !== "audit" && verb !== "reseal" && verb !== "accept") || more.length > 0) {
    throw new UsageError(notUnderstood(["credentials", ...args]));
  }
  const settings = readSettings();
  const cipher = await readCipher(settings);
  return withExistingStore(settings, ({ rotation, administrator }) => {
    if (verb === "audit") return auditCredentials(rotation(cipher), terminal);
    if (verb === "accept") return acceptKey(rotation(cipher), terminal);
    return resealCredentials(rotation(cipher), terminal, administrator);
  });
}

async function check(settings: CommandSettings, terminal: Terminal): Promise<void> {
  await checkStore(settings, terminal);
  const cipher = await readCipher(settings).catch((error: unknown) => {
    if (error instanceof CommandError) return undefined;
    throw error;
  });
  if (cipher === undefined) {
    return terminal.print("ENCRYPTION_KEY is not set here, so it was not checked.");
  }
  const database = await openExistingDatabase(settings);
  try {
    await checkKey(adminServices(database).rotation(cipher), terminal);
  } finally {
    await database.close();
  }
}

function notUnderstood(args: readonly string[]): string {
  if (args.length === 0) return "expected a command, for example: org list";
  return `"${args.join(" ")}" is not a complete command`;
}

function withExistingStore(
  settings: CommandSettings,
  work: (services: AdminServices) => Promise<void>,
): Promise<void> {
  return withDatabase(settings, (database) => work(adminServices(database)));
}

async function withDatabase(
  settings: CommandSettings,
  work: (database: Database) => Promise<void>,
): Promise<void> {
  const database = await openExistingDatabase(settings);
  try {
    await work(database);
    await seenByServers(database);
  } finally {
    await database.close();
  }
}

/** Servers cache rows for up to KEPT_MAX_MS. The command finishes only when no server can still use the old values. */
async function seenByServers({ recordChanges }: Database): Promise<void> {
  if (recordChanges.count === 0) return;
  await new Promise<void>((resolve) => {
    new SystemClock().after(KEPT_MAX_MS, resolve);
  });
}

/** Creates the database with the standard plans if there is none yet. */
async function withStore(
  settings: CommandSettings,
  work: (services: AdminServices) => Promise<void>,
): Promise<void> {
  const database = await openAnyDatabase(settings);
  try {
    const services = adminServices(database);
    await services.plans.seed();
    await work(services);
    await seenByServers(database);
  } finally {
    await database.close();
  }
}
