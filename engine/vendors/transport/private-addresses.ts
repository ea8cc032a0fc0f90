// Uses Node's BlockList with explicit ranges, since a library (ipaddr.js 2.5.0 was tried)
// recognizes a NAT64 or 6to4 address but does not check the IPv4 address in it, knows fewer ranges,
// and reads "010.0.0.1" as a public address.
import type { LookupAddress } from "node:dns";
import { BlockList, isIP } from "node:net";
import { ParleyError } from "../../../storage/parley-error.js";

/** IPv4 networks that are not the public internet. Source: the IANA special-purpose address registry. */
const PRIVATE_IPV4: readonly (readonly [string, number])[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
];

/** IPv6 networks that are not public; `::` covers unspecified, loopback and the old IPv4-compatible form. */
const PRIVATE_IPV6: readonly (readonly [string, number])[] = [
  ["::", 96],
  // SIIT (RFC 2765), which a translator turns into any IPv4 address.
  ["::ffff:0:0:0", 96],
  ["64:ff9b:1::", 48],
  ["100::", 64],
  ["100:0:0:1::", 64],
  ["2001::", 23],
  ["2001:db8::", 32],
  ["3fff::", 20],
  ["5f00::", 16],
  ["fc00::", 7],
  ["fe80::", 10],
  ["fec0::", 10],
  ["ff00::", 8],
];

/** Thrown while connecting, before a byte is sent. */
/** What is wrong with an address that a user has typed. Its remedy is the operator's. */
export const PUBLIC_ADDRESS_EXPECTED =
  "expected a public address, not a private, loopback or link-local one: these need the server's setting ALLOW_PRIVATE_PROVIDERS=true";

export class PrivateAddressError extends ParleyError {
  override readonly name = "PrivateAddressError";
  readonly code = "private_address";

  constructor() {
    super("the address is private, loopback or link-local, which this provider may not use");
  }
}

const privateNetworks = buildPrivateNetworks();

/** Whether an IP address is not public. Text that is not an IP address counts as private. */
export function isPrivateAddress(address: string): boolean {
  const bare = address.split("%", 1)[0] ?? "";
  const family = isIP(bare);
  if (family === 0) return true;
  return privateNetworks.check(bare, family === 6 ? "ipv6" : "ipv4");
}

/**
 * Suffixes that no public name server resolves: RFC 6761, 6762 and 8375, ICANN's `.internal`, and suffixes that
 * routers use.
 */
const PRIVATE_SUFFIXES = [
  "localhost",
  "localdomain",
  "local",
  "internal",
  "intranet",
  "private",
  "corp",
  "home",
  "lan",
  "home.arpa",
];

/**
 * Whether a URL by itself names a private address: a number in any of its forms, or a name without a public
 * address. Other names are checked only when they are connected to.
 */
export function namesPrivateHost({ hostname }: URL): boolean {
  const host = hostname.replace(/^\[|\]$/g, "");
  return isIP(host) === 0 ? isPrivateName(host) : isPrivateAddress(host);
}

/** A public name contains a dot, other than one at its end. */
export function isPrivateName(name: string): boolean {
  const host = name.toLowerCase().replace(/\.$/, "");
  if (isIP(host) !== 0) return isPrivateAddress(host);
  if (!host.includes(".")) return true;
  return PRIVATE_SUFFIXES.some((suffix) => host.endsWith(`.${suffix}`));
}

export type LookupCallback = (
  error: NodeJS.ErrnoException | null,
  address: string | LookupAddress[],
  family?: number,
) => void;

function buildPrivateNetworks(): BlockList {
  const networks = new BlockList();
  for (const [network, prefix] of PRIVATE_IPV4) {
    // A rule for IPv4 also matches its IPv4-mapped IPv6 form.
    networks.addSubnet(network, prefix, "ipv4");
    const [high, low] = hexPairs(network);
    // NAT64 (RFC 6052) and 6to4 (RFC 3056) addresses carry an IPv4 address that a gateway connects to.
    networks.addSubnet(`64:ff9b::${high}:${low}`, 96 + prefix, "ipv6");
    networks.addSubnet(`2002:${high}:${low}::`, 16 + prefix, "ipv6");
  }
  for (const [network, prefix] of PRIVATE_IPV6) networks.addSubnet(network, prefix, "ipv6");
  return networks;
}

function hexPairs(ipv4: string): [string, string] {
  const hex = Buffer.from(ipv4.split(".").map(Number)).toString("hex");
  return [hex.slice(0, 4), hex.slice(4)];
}
