import * as v from "valibot";
import {
  Me,
  PasswordBody,
  PasswordChanged,
  SignedIn,
  SignedUp,
  SignInBody,
  SignUpBody,
} from "../account.js";
import { PublicPlan } from "../plan.js";
import { Draining, Healthy, NotReady, Ready, SetupStatus } from "../service-state.js";
import type { Route } from "./route.js";
import { created, ok, refused } from "./route-answer.js";

const open = { auth: "public", limit: "general" } as const;

/** What works without an active organization. */
export const PLATFORM_ROUTES = {
  getHealth: {
    method: "get",
    path: "/api/health",
    group: "Service",
    summary: "Check whether the server is up",
    auth: "public",
    limit: "none",
    success: ok("The server is up", Healthy),
    others: [refused(503, "The server is stopping and takes no new calls", Draining)],
  },
  getReadiness: {
    method: "get",
    path: "/api/ready",
    group: "Service",
    summary: "Check whether the server accepts a new call",
    auth: "public",
    limit: "none",
    success: ok("The server takes one more call", Ready),
    others: [
      refused(
        503,
        "The server is stopping, full, can store nothing, or has a wrong ENCRYPTION_KEY",
        NotReady,
      ),
    ],
  },
  listPlans: {
    method: "get",
    path: "/api/plans",
    group: "Service",
    summary: "List the plans that anybody can choose",
    ...open,
    success: ok("The plans, cheapest first", v.array(PublicPlan)),
  },
  getSetupStatus: {
    method: "get",
    path: "/api/setup/status",
    group: "Service",
    summary: "Check whether the platform is set up",
    ...open,
    success: ok("Complete with an active organization and a provider of each kind", SetupStatus),
  },
  signUp: {
    method: "post",
    path: "/api/auth/signup",
    group: "Accounts",
    summary: "Create an organization and its first user",
    auth: "public",
    limit: "auth",
    body: SignUpBody,
    success: created("The user, and a token; the organization is pending", SignedUp),
    others: [refused(409, "The e-mail address has an account")],
  },
  signIn: {
    method: "post",
    path: "/api/auth/signin",
    group: "Accounts",
    summary: "Get a token for a user",
    auth: "public",
    limit: "auth",
    body: SignInBody,
    success: ok("A token; `status` only while the organization is pending", SignedIn),
    others: [refused(401, "The e-mail address or the password is wrong")],
  },
  getMe: {
    method: "get",
    path: "/api/auth/me",
    group: "Accounts",
    summary: "Show whom the token belongs to",
    auth: "user",
    limit: "general",
    success: ok("The user and the organization, pending ones too", Me),
  },
  changePassword: {
    method: "post",
    path: "/api/auth/password",
    group: "Accounts",
    summary: "Change one's own password",
    auth: "user",
    limit: "auth",
    body: PasswordBody,
    success: ok(
      "Changed. The answer has a new token; earlier tokens are no longer valid",
      PasswordChanged,
    ),
  },
} as const satisfies Record<string, Route>;
