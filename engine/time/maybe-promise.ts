/** A value that this process has, or that it requests from another process. */
export type MaybePromise<T> = T | Promise<T>;
