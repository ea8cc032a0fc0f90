import type { ClientAccess } from "../../engine/tenancy/people/client-access.js";
import type { Handlers } from "../http/endpoints/api-endpoint.js";
import { timestamp } from "./timestamp.js";

export function clientTokenRoutes(access: ClientAccess): Handlers<"createClientToken"> {
  return {
    createClientToken: async ({ tenant, body }) => {
      const { token, expiresAtMs } = await access.issue(tenant, body);
      return { token, expiresAt: timestamp(expiresAtMs) };
    },
  };
}
