/**
 * One part of a write that is tried again as a whole: what has succeeded is not done a second time. On PostgreSQL, parts that
 * are asked for at once can have different fates.
 */
export function untilDone<Given extends readonly unknown[]>(
  work: (...given: Given) => Promise<void>,
): (...given: Given) => Promise<void> {
  let isDone = false;
  return async (...given) => {
    if (isDone) return;
    await work(...given);
    isDone = true;
  };
}
