/** What is known at once where one process has it, and is asked for where another one has it. */
export type MaybePromise<T> = T | Promise<T>;
