/**
 * What each of the measures gave, in their order, measured so often there and back again (A B B A A B ...): what changes with the
 * hour of the machine meets all of them.
 */
export async function alternate<Result>(
  rounds: number,
  measures: readonly (() => Promise<Result>)[],
): Promise<readonly (readonly Result[])[]> {
  const results = measures.map((): Result[] => []);
  const there = measures.map((measure, index) => async () => {
    results[index]?.push(await measure());
  });
  const back = there.toReversed();
  for (let round = 0; round < rounds; round += 1) {
    for (const measure of round % 2 === 0 ? there : back) await measure();
  }
  return results;
}
