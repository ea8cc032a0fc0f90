import { createHash } from "node:crypto";

/** Public in every client of this service; it identifies the product, not a user. */
export const EDGE_TRUSTED_CLIENT_TOKEN = "6A5AA1D4EAFF4E9FB37E23D68491D6F4";
/** The seconds from 1601 to 1970. */
const EPOCH_OFFSET_SEC = 11_644_473_600n;
const STEP_SEC = 300n;
const TICKS_PER_SEC = 10_000_000n;

/** The `Sec-MS-GEC` that is good at this moment, and for the rest of its five minutes. */
export function edgeToken(epochMs: number, stepsAway = 0): string {
  const seconds = BigInt(Math.floor(epochMs / 1000)) + EPOCH_OFFSET_SEC;
  const step = seconds - (seconds % STEP_SEC) + BigInt(stepsAway) * STEP_SEC;
  const hashed = `${step * TICKS_PER_SEC}${EDGE_TRUSTED_CLIENT_TOKEN}`;
  return createHash("sha256").update(hashed, "ascii").digest("hex").toUpperCase();
}
