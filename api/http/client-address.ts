import { BlockList, isIP } from "node:net";
import { AddressBlocks } from "./address-blocks.js";

/** Hops looked at in one X-Forwarded-For; longer chains are forged or misconfigured. */
const FORWARDED_HOPS_MAX = 32;

/** Says who a client is, behind proxies that are trusted to say for whom they speak. */
export class ClientAddresses {
  readonly #trusted: AddressBlocks;
  /** Without proxies nobody needs to read the header. */
  readonly hasTrustedProxies: boolean;

  /** `trustedProxies`: addresses or CIDR blocks. Throws a `TypeError` that names a wrong one. */
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
      const claimed = withoutMapping(withoutPort(hop.trim()));
      if (isIP(claimed) === 0) return address;
      address = claimed;
      if (!this.#trusted.has(address)) return address;
    }
    return address;
  }
}

const mapped = new BlockList();
mapped.addSubnet("::ffff:0:0", 96, "ipv6");

/** An IPv4 address inside IPv6, as a proxy that listens on both may write it, as IPv4: else all of them share one limit. */
function withoutMapping(address: string): string {
  const [bare = ""] = address.split("%", 1);
  if (isIP(bare) !== 6 || !mapped.check(bare, "ipv6")) return address;
  // In an URL it has one spelling, which ends with the IPv4 address as two groups of hexadecimal digits.
  const groups = new URL(`http://[${bare}]`).hostname.slice(1, -1).split(":").slice(-2);
  const bytes = groups.map((group) => Number.parseInt(group, 16)).flatMap((n) => [n >> 8, n & 255]);
  return bytes.join(".");
}

/** Text of the 4 or 16 bytes of a socket's address; an IPv4 address inside IPv6 is written as IPv4. */
export function formatAddress(bytes: Uint8Array): string {
  if (bytes.length === 4) return bytes.join(".");
  if (bytes.length !== 16) return "unknown";
  const isMapped = bytes.subarray(0, 10).every((byte) => byte === 0) && bytes[10] === 0xff;
  if (isMapped && bytes[11] === 0xff) return bytes.subarray(12).join(".");
  const groups: string[] = [];
  for (let index = 0; index < 16; index += 2) {
    groups.push((((bytes[index] ?? 0) << 8) | (bytes[index + 1] ?? 0)).toString(16));
  }
  return groups.join(":");
}

/**
 * What limits are counted by: an IPv4 address, or the /64 of an IPv6 subscriber, who has too many addresses to count.
 */
export function addressGroup(address: string): string {
  if (isIP(address) !== 6) return address;
  const network = ipv6Groups(address)
    .slice(0, 4)
    .map((group) => group.toString(16));
  return `${network.join(":")}::/64`;
}

/** The 4 or 16 bytes of an address as Node writes it, in a buffer of their own; none of text that is no address. */
export function addressBytes(address: string): ArrayBuffer {
  const plain = address.startsWith("::ffff:") ? address.slice("::ffff:".length) : address;
  if (isIP(plain) === 4) return Uint8Array.from(plain.split("."), Number).buffer;
  if (isIP(address) !== 6) return new ArrayBuffer(0);
  const [withoutZone = ""] = address.split("%");
  return Uint8Array.from(ipv6Groups(withoutZone).flatMap((group) => [group >> 8, group & 0xff]))
    .buffer;
}

/** The eight groups of an IPv6 address that does not end with an IPv4 address. */
function ipv6Groups(address: string): number[] {
  const [head = "", tail] = address.split("::");
  const front = head === "" ? [] : head.split(":");
  const back = tail === undefined || tail === "" ? [] : tail.split(":");
  const gap = tail === undefined ? 0 : Math.max(0, 8 - front.length - back.length);
  const groups = [...front, ...Array.from({ length: gap }, () => "0"), ...back];
  return groups.map((group) => Number.parseInt(group, 16));
}

/** The address of `1.2.3.4:56` or `[::1]:56`; other text as it is. */
export function withoutPort(hop: string): string {
  if (hop.startsWith("[")) return hop.slice(1, hop.indexOf("]"));
  const isIpv4WithPort = hop.includes(".") && hop.indexOf(":") === hop.lastIndexOf(":");
  return isIpv4WithPort ? (hop.split(":")[0] ?? "") : hop;
}
