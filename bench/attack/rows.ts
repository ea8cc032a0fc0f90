/** Does the work for each item, so many at a time; rejects with the first that does. */
export async function inRows<Item>(
  rowCount: number,
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
): Promise<void> {
  let next = 0;
  const row = async (): Promise<void> => {
    for (;;) {
      const item = items[next];
      next += 1;
      if (item === undefined) return;
      await work(item);
    }
  };
  await Promise.all(Array.from({ length: rowCount }, row));
}
