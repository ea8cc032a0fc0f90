/**
 * One part of a write that is tried again as a whole: what has succeeded is not done a second time. On PostgreSQL, parts that
 * are asked for at once can have different fates.
 */
export function untilDone(work: () => Promise<void>): () => Promise<void> {
  let isDone = false;
  return async () => {
    if (isDone) return;
    await work();
    isDone = true;
  };
}
