import { promises as dns, type LookupAddress, type LookupOptions } from "node:dns";
import { isIP } from "node:net";
import { ShareUsedUpError } from "./organization-connections.js";
import {
  isPrivateAddress,
  isPrivateName,
  type LookupCallback,
  PrivateAddressError,
} from "./private-addresses.js";

/** Names that an organization may look up at the same time; more than that wait. */
const LOOKUPS_RUNNING_MAX = 8;
/** As many may wait; the next one fails at once. */
const LOOKUPS_WAITING_MAX = 256;
/** `dns.lookup` holds one of the process's four threads for each name until its answer comes. */
const THREAD_LOOKUPS_RUNNING_MAX = 1;

/** A name server that has not answered by then, twice, is of no use to a call. */
const LOOKUP_TIMEOUT_MS = 2_000;
const LOOKUP_TRIES = 2;

/** Resolves one name to its addresses; rejects with an error that has a `code`. */
export type ResolveName = (hostname: string) => Promise<readonly LookupAddress[]>;

export interface OrganizationLookupsOptions {
  /** Leaves out addresses that are not public, and refuses names that are not. */
  readonly isPublicOnly: boolean;
  readonly resolve?: ResolveName;
}

/**
 * The look-ups of one organization, bounded. Public names are asked of the name servers directly, where slow ones hold up
 * nobody else. Where an operator allows private addresses, names may stand in files of the machine, which only
 * `dns.lookup` reads: there they are looked up one at a time.
 */
export class OrganizationLookups {
  readonly #isPublicOnly: boolean;
  readonly #resolve: ResolveName;
  readonly #runningMax: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor({ isPublicOnly, resolve }: OrganizationLookupsOptions) {
    this.#isPublicOnly = isPublicOnly;
    this.#resolve = resolve ?? (isPublicOnly ? askNameServers : askSystem);
    this.#runningMax = isPublicOnly ? LOOKUPS_RUNNING_MAX : THREAD_LOOKUPS_RUNNING_MAX;
  }

  /**
   * A `lookup` for net.connect. It decides about the very addresses that are then connected to, so a name that changes its
   * mind between two look-ups gains nothing.
   */
  readonly lookup = (hostname: string, options: LookupOptions, callback: LookupCallback): void => {
    void this.#answer(hostname, options.all === true, callback);
  };

  async #answer(hostname: string, all: boolean, callback: LookupCallback): Promise<void> {
    let addresses: readonly LookupAddress[];
    try {
      addresses = await this.#find(hostname);
    } catch (error) {
      callback(error instanceof Error ? error : new Error("the look-up failed"), []);
      return;
    }
    const [first] = addresses;
    if (first === undefined) callback(new PrivateAddressError(), []);
    else if (all) callback(null, [...addresses]);
    else callback(null, first.address, first.family);
  }

  async #find(hostname: string): Promise<readonly LookupAddress[]> {
    const found = await this.#addressesOf(hostname);
    return this.#isPublicOnly ? found.filter(({ address }) => !isPrivateAddress(address)) : found;
  }

  async #addressesOf(hostname: string): Promise<readonly LookupAddress[]> {
    const family = isIP(hostname);
    if (family !== 0) return [{ address: hostname, family }];
    if (this.#isPublicOnly && isPrivateName(hostname)) return [];
    await this.#begin();
    try {
      return await this.#resolve(hostname);
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }

  /** A waiting lookup takes the place of one that has ended. */
  async #begin(): Promise<void> {
    if (this.#running < this.#runningMax) {
      this.#running += 1;
      return;
    }
    if (this.#waiting.length >= LOOKUPS_WAITING_MAX) {
      throw new ShareUsedUpError("lookups", LOOKUPS_WAITING_MAX);
    }
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve);
    });
  }
}

function askSystem(hostname: string): Promise<readonly LookupAddress[]> {
  return dns.lookup(hostname, { all: true });
}

/** A resolver of its own for each name: it reads what the machine's name servers are now. */
async function askNameServers(hostname: string): Promise<readonly LookupAddress[]> {
  const resolver = new dns.Resolver({ timeout: LOOKUP_TIMEOUT_MS, tries: LOOKUP_TRIES });
  const [ipv4, ipv6] = await Promise.allSettled([
    resolver.resolve4(hostname),
    resolver.resolve6(hostname),
  ]);
  const found = [...addressesOf(ipv4, 4), ...addressesOf(ipv6, 6)];
  if (found.length === 0 && ipv4.status === "rejected") throw ipv4.reason;
  return found;
}

function addressesOf(
  outcome: PromiseSettledResult<readonly string[]>,
  family: 4 | 6,
): readonly LookupAddress[] {
  if (outcome.status === "rejected") return [];
  return outcome.value.map((address) => ({ address, family }));
}
