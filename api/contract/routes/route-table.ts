import { AGENT_ROUTES } from "./agent-routes.js";
import { CALL_LIST_ROUTES } from "./call-list-routes.js";
import { KNOWLEDGE_ROUTES } from "./knowledge-routes.js";
import { OPERATOR_ROUTES } from "./operator-routes.js";
import { MEMBER_ROUTES, ORGANIZATION_ROUTES } from "./organization-routes.js";
import { PLATFORM_ROUTES } from "./platform-routes.js";
import { TELEPHONY_ACCOUNT_ROUTES } from "./telephony-account-routes.js";
import { WEBHOOK_ROUTES } from "./webhook-routes.js";

/** Every endpoint of the REST API. What serves, validates, guards and documents them is made from this. */
export const ROUTES = {
  ...PLATFORM_ROUTES,
  ...ORGANIZATION_ROUTES,
  ...MEMBER_ROUTES,
  ...AGENT_ROUTES,
  ...KNOWLEDGE_ROUTES,
  ...CALL_LIST_ROUTES,
  ...WEBHOOK_ROUTES,
  ...TELEPHONY_ACCOUNT_ROUTES,
  ...OPERATOR_ROUTES,
};

export type RouteTable = typeof ROUTES;
export type RouteId = keyof RouteTable;
