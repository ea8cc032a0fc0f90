import * as v from "valibot";
import { OrganizationStatus } from "../account.js";
import {
  Category,
  Count,
  choiceField,
  FreeForm,
  flagField,
  Id,
  knownObjectField,
  nameField,
  requestObject,
  Success,
  Timestamp,
  textField,
  wholeNumberField,
  wholeNumberParameter,
} from "../fields.js";
import { SKIP_MAX } from "../organization.js";
import { PlanLimits } from "../plan.js";
import {
  ProviderBody,
  ProviderInUse,
  ProviderLastTest,
  ProviderModel,
  ProviderPatchBody,
} from "../provider.js";
import { ProviderTest } from "../trial.js";
import type { Route } from "./route.js";
import { created, ok, refused } from "./route-answer.js";

const ORGANIZATIONS_PAGE_MAX = 100;
const WORDS_CHARACTERS_MAX = 100;
const PLAN_SLUG_CHARACTERS_MAX = 100;

const status = choiceField("whether it may call", ["pending", "active"]);

const OrganizationsQuery = requestObject({
  words: v.optional(textField("part of the name or of the owner's e-mail", WORDS_CHARACTERS_MAX)),
  status: v.optional(status),
  skip: wholeNumberParameter("how many to skip", { min: 0, max: SKIP_MAX, preset: 0 }),
  limit: wholeNumberParameter("how many to return", {
    min: 1,
    max: ORGANIZATIONS_PAGE_MAX,
    preset: 20,
  }),
});

const OrganizationChange = requestObject({
  status: v.optional(status),
  planSlug: v.optional(textField("the slug of a plan", PLAN_SLUG_CHARACTERS_MAX, 1)),
});

const COUNT_MAX = 1_000_000;
const CALL_SEC_MAX = 86_400;
const MINUTES_MAX = 100_000_000;

const OwnPlanChange = requestObject({
  name: v.optional(nameField("the name of the plan")),
  limits: v.optional(
    knownObjectField("the limits to change", {
      maxAgents: v.optional(wholeNumberField("how many agents", 0, COUNT_MAX)),
      maxConcurrentCalls: v.optional(wholeNumberField("calls at the same time", 0, COUNT_MAX)),
      maxCallDurationSec: v.optional(wholeNumberField("seconds of a call", 1, CALL_SEC_MAX)),
      maxMonthlyMinutes: v.optional(wholeNumberField("minutes of a month", 0, MINUTES_MAX)),
    }),
  ),
  features: v.optional(
    knownObjectField("the features to change", {
      customProviders: v.optional(flagField("whether it may have providers of its own")),
      maxCustomProviders: v.optional(wholeNumberField("how many of them", 0, COUNT_MAX)),
    }),
  ),
});

export const OrganizationOverview = v.object({
  id: Id,
  name: v.string(),
  ownerEmail: v.string(),
  status: OrganizationStatus,
  planSlug: v.string(),
  planName: v.string(),
  limits: PlanLimits,
  activeCalls: Count,
  monthMinutes: v.pipe(v.number(), v.description("of calls that ended this month (UTC)")),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});

export const OrganizationOverviews = v.object({
  items: v.array(OrganizationOverview),
  total: Count,
  skip: Count,
  limit: Count,
});

export const GlobalProvider = v.object({
  _id: Id,
  category: Category,
  providerKey: v.string(),
  name: v.string(),
  origin: v.pipe(
    v.picklist(["environment", "operator"]),
    v.description("`environment`: follows its variables; `operator`: changed by operators"),
  ),
  models: v.array(ProviderModel),
  settings: FreeForm,
  active: v.boolean(),
  simulated: v.boolean(),
  lastTest: ProviderLastTest,
  createdAt: Timestamp,
  updatedAt: Timestamp,
});

export const PlanChoice = v.object({ slug: v.string(), name: v.string(), limits: PlanLimits });

export const PlatformNode = v.object({
  name: v.string(),
  state: v.pipe(
    v.picklist(["taking", "full", "draining", "silent"]),
    v.description("`full`: takes no call just now; `silent`: not heard of, taken for dead"),
  ),
  calls: Count,
  callsMax: v.pipe(Count, v.description("0: no such limit")),
  load: v.pipe(v.number(), v.description("processes that wanted a core lately, by cores")),
  version: v.string(),
  address: v.pipe(v.nullable(v.string()), v.description("null where one address serves all")),
  startedAt: Timestamp,
});

const operators = { auth: "operator", limit: "general", group: "Operators" } as const;

/** The whole platform, for the users whom its command line made operators. */
export const OPERATOR_ROUTES = {
  listOrganizations: {
    method: "get",
    path: "/api/operator/organizations",
    summary: "List all organizations",
    ...operators,
    query: OrganizationsQuery,
    success: ok("A page of organizations, newest first", OrganizationOverviews),
  },
  getAnyOrganization: {
    method: "get",
    path: "/api/operator/organizations/:id",
    summary: "Show an organization",
    ...operators,
    success: ok("The organization", OrganizationOverview),
  },
  changeOrganization: {
    method: "patch",
    path: "/api/operator/organizations/:id",
    summary: "Activate or suspend an organization, or change its plan",
    ...operators,
    body: OrganizationChange,
    success: ok("The organization as it is now", OrganizationOverview),
    others: [refused(404, "There is no such organization, or no such plan")],
  },
  changeOwnPlan: {
    method: "patch",
    path: "/api/operator/organizations/:id/plan",
    summary: "Give an organization a plan of its own (`custom`), or change that one",
    ...operators,
    body: OwnPlanChange,
    success: ok(
      "The organization, whose plan is a copy of the one before with these changes",
      OrganizationOverview,
    ),
    others: [refused(404, "There is no such organization")],
  },
  listGlobalProviders: {
    method: "get",
    path: "/api/operator/providers",
    summary: "List the platform's providers",
    ...operators,
    success: ok("All global providers, without credentials", v.array(GlobalProvider)),
  },
  createGlobalProvider: {
    method: "post",
    path: "/api/operator/providers",
    summary: "Add a provider for all organizations",
    ...operators,
    body: ProviderBody,
    success: created("The provider, without credentials", GlobalProvider),
    others: [refused(409, "Another global provider of this vendor has the name")],
  },
  testNewGlobalProvider: {
    method: "post",
    path: "/api/operator/providers/test",
    summary: "Try a provider for all organizations before it is added",
    ...operators,
    limit: "vendor",
    body: ProviderBody,
    success: ok("As of a provider that is stored; nothing is stored", ProviderTest),
  },
  testGlobalProvider: {
    method: "post",
    path: "/api/operator/providers/:id/test",
    summary:
      "Try a global provider, also one that is switched off, with one small call to its vendor",
    ...operators,
    limit: "vendor",
    success: ok("What came back, with the vendor's own words where it refuses", ProviderTest),
    others: [refused(404, "There is no such global provider")],
  },
  updateGlobalProvider: {
    method: "patch",
    path: "/api/operator/providers/:id",
    summary: "Change a global provider that an operator has added",
    ...operators,
    body: ProviderPatchBody,
    success: ok("The provider as it is now, without credentials", GlobalProvider),
    others: [
      refused(403, "The provider comes from the environment, or the user is no operator"),
      refused(404, "There is no such global provider"),
      refused(409, "Another global provider of this vendor has the name"),
    ],
  },
  deleteGlobalProvider: {
    method: "delete",
    path: "/api/operator/providers/:id",
    summary: "Delete a global provider that an operator has added",
    ...operators,
    success: ok("Deleted", Success),
    others: [
      refused(403, "The provider comes from the environment, or the user is no operator"),
      refused(404, "There is no such global provider"),
      refused(409, "Agents use the provider; they are listed", ProviderInUse),
    ],
  },
  listAllPlans: {
    method: "get",
    path: "/api/operator/plans",
    summary: "List every plan",
    ...operators,
    success: ok("All plans, including those that cannot be chosen", v.array(PlanChoice)),
  },
  listNodes: {
    method: "get",
    path: "/api/operator/nodes",
    summary: "List the servers with their calls and load",
    ...operators,
    success: ok("The servers of the database, by name", v.array(PlatformNode)),
  },
  drainNode: {
    method: "post",
    path: "/api/operator/nodes/:id/drain",
    summary: "Drain a server: it takes no new calls",
    ...operators,
    success: ok("It takes none until it is started again; those in progress finish", Success),
    others: [refused(409, "The database is a file, which has one server")],
  },
} as const satisfies Record<string, Route>;
