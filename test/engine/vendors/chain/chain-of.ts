import type { Clock } from "../../../../engine/time/clock.js";
import { Breakers } from "../../../../engine/vendors/chain/breakers.js";
import { Chain, type ChainLink, type ChainWatch } from "../../../../engine/vendors/chain/chain.js";
import type { Category } from "../../../../storage/records.js";

interface Named<Client> {
  readonly vendor: string;
  readonly modelId: string;
  readonly client: Client;
}

/** A chain of these, with its own breakers and `speed` for voices. */
export function chainOf<Client>(
  category: Category,
  clock: Clock,
  watch: ChainWatch,
  [first, ...others]: readonly [Named<Client>, ...Named<Client>[]],
): Chain<Client, ChainLink<Client> & { readonly speed: number }> {
  const breakers = new Breakers(clock);
  const linkOf = (each: Named<Client>) => {
    const { vendor } = each;
    const breaker = breakers.of({ id: vendor, version: 1, category, vendor });
    return { ...each, orgId: "org", breaker, speed: 1 };
  };
  return new Chain({ category, links: [linkOf(first), ...others.map(linkOf)], clock, watch });
}
