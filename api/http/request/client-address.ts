import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import { AddressBlocks } from "./address-blocks.js";

/** Maximum hops read from one X-Forwarded-For; longer chains are forged or misconfigured. */
const FORWARDED_HOPS_MAX = 32;

/** Determines a client's address behind trusted proxies. */
export class ClientAddresses {
  readonly #trusted: AddressBlocks;
  /** Without proxies the header need not be read. */
  readonly hasTrustedProxies: boolean;

  /** `trustedProxies`: addresses or CIDR blocks. Throws a `TypeError` that names an invalid one. */
  constructor(trustedProxies: readonly string[]) {
    this.hasTrustedProxies = trustedProxies.length > 0;
    this.#trusted = new AddressBlocks(trustedProxies);
  }

  /** `forwardedFor`: the X-Forwarded-For header, several lines joined by commas. */
  resolve(socketAddress: string, forwardedFor: string): string {
    let address = socketAddress;
    if (forwardedFor === "" || !this.#trusted.has(address)) return address;
    const hops = forwardedFor.split(",").slice(-FORWARDED_HOPS_MAX);
    for (const hop of hops.reverse()) {
      const claimed = parsedAddress(withoutPort(hop.trim()));
      if (claimed === undefined) return address;
      address = claimed.toString();
      if (!this.#trusted.has(address)) return address;
    }
    return address;
  }
}

/**
 * Returns undefined for text that is not an address. The library would accept some that Node does not, such as
 * "010.0.0.1".
 */
function parsedAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  const [bare = ""] = text.split("%", 1);
  // An IPv4 address inside IPv6, as a dual-stack listener may report it, becomes IPv4.
  return isIP(bare) === 0 ? undefined : ipaddr.process(bare);
}

/** Returns one spelling of each address, and that of IPv4 for an IPv4 address inside IPv6; other text is unchanged. */
export function plainAddress(address: string): string {
  return parsedAddress(address)?.toString() ?? address;
}

/** Returns the 4 or 16 bytes of a socket's address as text in one spelling; an IPv4 address inside IPv6 as IPv4. */
export function formatAddress(bytes: Uint8Array): string {
  if (bytes.length === 4) return bytes.join(".");
  if (bytes.length !== 16) return "unknown";
  return ipaddr.process(ipaddr.fromByteArray([...bytes]).toString()).toString();
}

/**
 * Returns the key of every limit by address, for any spelling: an IPv4 address, including one that a translator has put
 * into an IPv6 address, or the /64 of an IPv6 subscriber, who has too many addresses to count. Other text is its own
 * key.
 */
export function addressGroup(address: string): string {
  const parsed = parsedAddress(address);
  if (parsed === undefined) return address;
  if (parsed instanceof ipaddr.IPv4) return parsed.toString();
  const { parts } = parsed;
  const carried = CARRIED_AT[parsed.range()];
  if (carried !== undefined) return bytesOf(parts.slice(carried, carried + 2)).join(".");
  return `${parts.slice(0, 4).map(hexadecimal).join(":")}::/64`;
}

/** Which of the eight groups contain the IPv4 address: SIIT, NAT64 and 6to4, by the library's names of the ranges. */
const CARRIED_AT: Readonly<Partial<Record<string, number>>> = { rfc6145: 6, rfc6052: 6, "6to4": 1 };

/**
 * Returns the 4 or 16 bytes of an address in Node's spelling, in their own buffer; empty for text that is not an
 * address.
 */
export function addressBytes(address: string): ArrayBuffer {
  return Uint8Array.from(parsedAddress(address)?.toByteArray() ?? []).buffer;
}

function bytesOf(groups: readonly number[]): number[] {
  return groups.flatMap((group) => [group >> 8, group & 0xff]);
}

function hexadecimal(group: number): string {
  return group.toString(16);
}

/** Returns the address in `1.2.3.4:56` or `[::1]:56`; other text is unchanged. */
export function withoutPort(hop: string): string {
  if (hop.startsWith("[")) return hop.slice(1, hop.indexOf("]"));
  const isIpv4WithPort = hop.includes(".") && hop.indexOf(":") === hop.lastIndexOf(":");
  return isIpv4WithPort ? (hop.split(":")[0] ?? "") : hop;
}
