import { createHash } from "node:crypto";

const ID_CHARS = 9;
const TAKEN = /^[a-zA-Z0-9]{9}$/;

/** Mistral takes no id of a tool's call but such as it makes itself; in a chain some are of other vendors. */
export function mistralCallId(id: string): string {
  if (TAKEN.test(id)) return id;
  return createHash("sha256").update(id).digest("hex").slice(0, ID_CHARS);
}
