import type { Attack } from "./attack.js";
import { FRAME_FUZZ } from "./clients/frame-fuzz.js";
import { VANISHING_CLIENTS } from "./clients/vanishing-clients.js";
import { WEBHOOK_REPLAYS } from "./clients/webhook-replays.js";
import { CLOCK_STEPS } from "./machine/clock-steps.js";
import { FULL_DISK } from "./machine/full-disk.js";
import { KILL_ROUNDS } from "./machine/kill-rounds.js";
import { WRITE_LOCK } from "./machine/write-lock.js";
import { HTTP_FRAMING } from "./requests/http-framing.js";
import { REST_FUZZ } from "./requests/rest-fuzz.js";
import { TENANTS } from "./requests/tenants.js";
import { TENANT_STARVATION } from "./tenants/tenant-starvation.js";
import { HOSTILE_VENDORS } from "./vendors/hostile-vendors.js";
import { SILENT_RECOGNIZER } from "./vendors/silent-recognizer.js";

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
  TENANT_STARVATION,
];
