import type { Answered } from "../model/contract-paths.js";

export const STATUS_WORDS: Readonly<Record<"pending" | "active", string>> = {
  pending: "pending",
  active: "active",
};

export const NODE_WORDS: Readonly<Record<Answered<"listNodes">[number]["state"], string>> = {
  taking: "takes calls",
  full: "takes no calls just now",
  draining: "finishes its calls, takes no new ones",
  silent: "no heartbeat, presumed dead",
};

/** How much of what there may be: `3 of 50`. */
export function ofMostWords(count: number, most: number): string {
  return `${count.toLocaleString()} of ${most.toLocaleString()}`;
}
