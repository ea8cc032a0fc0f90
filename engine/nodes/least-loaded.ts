export interface Carrying {
  readonly startId: string;
  readonly address: string | null;
  readonly calls: number;
  /** 0 = nobody has said. */
  readonly capacity: number;
  readonly load: number;
}

/** Stands for a capacity that nobody has said, so that calls are compared with those of others. */
const CAPACITY_UNKNOWN = 1_000;

/**
 * The node with an address that has the smallest part of its calls, those among them who were sent there and have not come
 * yet; of two that are equal, the one whose processors do less. Undefined when none has an address.
 */
export function leastLoaded<Node extends Carrying>(
  nodes: readonly Node[],
  sent: ReadonlyMap<string, number>,
): Node | undefined {
  const partOf = ({ startId, calls, capacity }: Node) =>
    (calls + (sent.get(startId) ?? 0)) / (capacity > 0 ? capacity : CAPACITY_UNKNOWN);
  return nodes
    .filter(({ address }) => address !== null)
    .toSorted((one, other) => partOf(one) - partOf(other) || one.load - other.load)[0];
}
