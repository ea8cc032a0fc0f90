import type { Attack } from "./attack.js";
import { CLOCK_STEPS } from "./clock-steps.js";
import { FRAME_FUZZ } from "./frame-fuzz.js";
import { FULL_DISK } from "./full-disk.js";
import { HOSTILE_VENDORS } from "./hostile-vendors.js";
import { HTTP_FRAMING } from "./http-framing.js";
import { KILL_ROUNDS } from "./kill-rounds.js";
import { REST_FUZZ } from "./rest-fuzz.js";
import { SILENT_RECOGNIZER } from "./silent-recognizer.js";
import { TENANTS } from "./tenants.js";
import { VANISHING_CLIENTS } from "./vanishing-clients.js";
import { WEBHOOK_REPLAYS } from "./webhook-replays.js";
import { WRITE_LOCK } from "./write-lock.js";

/** In the order in which they are run. */
export const ATTACKS: readonly Attack[] = [
  KILL_ROUNDS,
  FULL_DISK,
  WRITE_LOCK,
  CLOCK_STEPS,
  TENANTS,
  HTTP_FRAMING,
  REST_FUZZ,
  FRAME_FUZZ,
  VANISHING_CLIENTS,
  WEBHOOK_REPLAYS,
  HOSTILE_VENDORS,
  SILENT_RECOGNIZER,
];
