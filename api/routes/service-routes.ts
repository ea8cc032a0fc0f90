import type * as v from "valibot";
import type { Organizations } from "../../engine/tenancy/organizations.js";
import type { Plans } from "../../engine/tenancy/plans.js";
import type { Clock } from "../../engine/time/clock.js";
import { VERSION } from "../../engine/version.js";
import type { NotReady } from "../contract/service-state.js";
import { type Handlers, OtherAnswer } from "../http/endpoints/api-endpoint.js";

export interface ServiceParts {
  readonly plans: Plans;
  readonly organizations: Organizations;
  readonly clock: Clock;
  readonly isDraining: () => boolean;
  /** Whether an operator has drained this server, which is a healthy state. */
  readonly isDrained?: () => boolean;
  /** Whether the server would accept a new call. */
  readonly isReady: () => boolean;
  /** Why the database cannot be written to; undefined if it can. */
  readonly storeRefusal: () => string | undefined;
  /** The encryption key is not the database's. A restart with the right key fixes that. */
  readonly keyRefusal?: string | undefined;
}

/** A full disk or a lock is not resolved within a second. */
const RETRY_LATER = [["retry-after", "5"]] as const;

export function serviceRoutes({
  plans,
  organizations,
  clock,
  isDraining,
  isDrained = () => false,
  isReady,
  storeRefusal,
  keyRefusal,
}: ServiceParts): Handlers<"getHealth" | "getReadiness" | "listPlans" | "getSetupStatus"> {
  return {
    getHealth: () => {
      const about = { timestamp: clock.epochMs(), version: VERSION };
      return isDraining()
        ? new OtherAnswer(503, { status: "draining", ...about })
        : { status: "ok", ...about };
    },
    getReadiness: () => {
      const timestamp = clock.epochMs();
      const notReady = (status: v.InferOutput<typeof NotReady>["status"], reason?: string) =>
        new OtherAnswer(503, { status, timestamp, ...(reason && { reason }) }, RETRY_LATER);
      if (isDraining() || isDrained()) return notReady("draining");
      if (keyRefusal !== undefined) return notReady("encryption_key", keyRefusal);
      const reason = storeRefusal();
      if (reason !== undefined) return notReady("storage", reason);
      return isReady() ? { status: "ready", timestamp } : notReady("overloaded");
    },
    listPlans: async () =>
      (await plans.listPublic()).map(({ slug, name, description, pricing, limits, features }) => ({
        slug,
        name,
        description,
        pricing,
        limits,
        features,
      })),
    getSetupStatus: () => organizations.setupStatus(),
  };
}
