/** What is known at once where one process has it, and is asked for where another one has it. */
export type Soon<T> = T | Promise<T>;
