import { createHash } from "node:crypto";

/** The service counts from 1601, as Windows does. */
const SECONDS_FROM_1601_TO_1970 = 11_644_473_600n;

/** One token serves all requests of a five-minute step. */
const STEP_SECONDS = 300n;

const TICKS_PER_SECOND = 10_000_000n;

/** The `Sec-MS-GEC` parameter: upper-case hex SHA-256 of the time in 100 ns ticks, and the public client token. */
export function edgeToken(epochMs: number, trustedClientToken: string): string {
  const seconds = BigInt(Math.floor(epochMs / 1_000)) + SECONDS_FROM_1601_TO_1970;
  const ticks = (seconds - (seconds % STEP_SECONDS)) * TICKS_PER_SECOND;
  return createHash("sha256").update(`${ticks}${trustedClientToken}`).digest("hex").toUpperCase();
}
