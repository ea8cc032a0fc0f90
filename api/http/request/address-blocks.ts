// Node's BlockList holds the networks; only the slash of a CIDR block is parsed here, since Node cannot.
import { BlockList, isIP } from "node:net";

/** A set of networks. */
export class AddressBlocks {
  readonly #blocks = new BlockList();

  /** `entries`: addresses or CIDR blocks. Throws a `TypeError` that names an invalid one. */
  constructor(entries: readonly string[]) {
    for (const entry of entries) this.#add(entry);
  }

  /** Returns false for text that is not an address. */
  has(address: string): boolean {
    return this.#blocks.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
  }

  #add(entry: string): void {
    const block = parsed(entry);
    if (block === undefined) {
      throw new TypeError(`"${entry}" is neither an IP address nor a CIDR block`);
    }
    this.#blocks.addSubnet(block.address, block.prefix, block.type);
  }
}

export function isAddressBlock(entry: string): boolean {
  return parsed(entry) !== undefined;
}

function parsed(entry: string) {
  const [address = "", bits, ...rest] = entry.split("/");
  const version = isIP(address);
  const width = version === 6 ? 128 : 32;
  const prefix = bits === undefined ? width : /^\d{1,3}$/.test(bits) ? Number(bits) : -1;
  if (version === 0 || rest.length > 0 || prefix < 0 || prefix > width) return undefined;
  const type: "ipv4" | "ipv6" = version === 6 ? "ipv6" : "ipv4";
  return { address, prefix, type };
}
