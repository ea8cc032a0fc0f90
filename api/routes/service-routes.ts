import type { Organizations } from "../../engine/tenancy/organizations.js";
import type { Plans } from "../../engine/tenancy/plans.js";
import type { Clock } from "../../engine/time/clock.js";
import { VERSION } from "../../engine/version.js";
import { type Handlers, OtherAnswer } from "../http/api-endpoint.js";

export interface ServiceParts {
  readonly plans: Plans;
  readonly organizations: Organizations;
  readonly clock: Clock;
  readonly isDraining: () => boolean;
  /** Whether a new call would be taken. */
  readonly isReady: () => boolean;
}

export function serviceRoutes({
  plans,
  organizations,
  clock,
  isDraining,
  isReady,
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
      if (isDraining()) return new OtherAnswer(503, { status: "draining", timestamp });
      return isReady()
        ? { status: "ready", timestamp }
        : new OtherAnswer(503, { status: "overloaded", timestamp });
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
