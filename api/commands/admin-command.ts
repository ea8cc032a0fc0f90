import { KEPT_MAX_MS } from "../../engine/tenancy/read-cache.js";
import { SystemClock } from "../../engine/time/clock.js";
import { VERSION } from "../../engine/version.js";
import type { Database } from "../../storage/database.js";
import { readAuditRequest, showAudit } from "./admin-audit.js";
import { checkStore } from "./admin-check.js";
import { copyStore, readCopyRequest } from "./admin-copy.js";
import {
  acceptKey,
  auditCredentials,
  checkKey,
  readCipher,
  resealCredentials,
} from "./admin-credentials.js";
import { nodeWork } from "./admin-nodes.js";
import { numberWork } from "./admin-numbers.js";
import { operatorWork } from "./admin-operators.js";
import { activate, changePlan, listOrganizations, suspend } from "./admin-organizations.js";
import { readNewOrganization, setUp } from "./admin-setup.js";
import { type AdminServices, adminServices } from "./admin-store.js";
import { type Command, parseCommandLine } from "./command.js";
import { CommandFault, UsageFault } from "./command-fault.js";
import {
  type CommandSettings,
  openAnyDatabase,
  openExistingDatabase,
  readCommandSettings,
} from "./data-folder.js";
import type { Terminal } from "./terminal.js";

const USAGE = `Usage: npm run admin -- COMMAND

  org list                   every organization with its owner, status and plan
  org activate E-MAIL        opens the dashboard and calls to the organization of this owner
  org suspend E-MAIL         closes them again; calls in progress are told why and end
  org plan E-MAIL SLUG       moves the organization to another plan
  operator list              who sees and looks after all organizations and servers in the console
  operator grant E-MAIL      makes the user with this e-mail one of them, at once
  operator revoke E-MAIL     ends that, at once
  number list                the numbers from which agents may call, and whose they are
  number allow E-MAIL +NUMBER  lets the agents of this owner's organization call from a number of your account
  number revoke +NUMBER      takes it away again; calls in progress finish
  number targets             whom the agents of each organization may call or hand callers on to
  number reach E-MAIL TARGET lets them reach a number (+15550101000), all that begin so (+49), or a SIP address
  number unreach E-MAIL TARGET  takes it away again; calls in progress finish
  setup --name NAME --email E-MAIL [--password PASSWORD] [--plan SLUG]
                             makes an active organization with its owner, an API key, and an agent of the vendors
                             that are configured (start the server with their keys first)
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

type Work = (services: AdminServices, terminal: Terminal) => Promise<void>;

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
      if (noun !== "setup") throw new UsageFault(notUnderstood(args));
      const organization = readNewOrganization(rest);
      return withStore(readSettings(), (services) => setUp(services, terminal, organization));
    },
  };
}

/** What is to be done, before anything is opened: a wrong command line changes nothing. */
function organizationWork(args: readonly string[]): Work {
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
  throw new UsageFault(notUnderstood(["org", ...args]));
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
    throw new UsageFault(notUnderstood(["credentials", ...args]));
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
    if (error instanceof CommandFault) return undefined;
    throw error;
  });
  if (cipher === undefined) {
    return terminal.print("ENCRYPTION_KEY is not set here, so it was not tried.");
  }
  const database = await openExistingDatabase(settings);
  try {
    await checkKey(adminServices(database).rotation(cipher), terminal);
  } finally {
    await database.close();
  }
}

function notUnderstood(args: readonly string[]): string {
  if (args.length === 0) return "say what is to be done, for example: org list";
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

/** A server may use what it has read until its time is over: the command is done when no server uses what it has changed. */
async function seenByServers({ recordChanges }: Database): Promise<void> {
  if (recordChanges.count === 0) return;
  await new Promise<void>((resolve) => {
    new SystemClock().after(KEPT_MAX_MS, resolve);
  });
}

/** Makes the store, with the standard plans, when it is not there yet. */
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
