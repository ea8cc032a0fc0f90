/** Known at once if this process has it, otherwise requested from another process. */
export type MaybePromise<T> = T | Promise<T>;
