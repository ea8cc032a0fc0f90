import * as v from "valibot";
import { OrganizationStatus } from "./account.js";
import {
  Count,
  choiceField,
  Id,
  nameField,
  requestObject,
  Timestamp,
  textField,
  wholeNumberParameter,
} from "./fields.js";
import { PlanLimits } from "./plan.js";

/** Far past any catalogue; keeps `skip` a number that a database takes. */
export const SKIP_MAX = 1_000_000_000;
const MODELS_PAGE_MAX = 100;

export const OrganizationBody = requestObject({ name: nameField("the organization's name") });

export const Organization = v.object({
  id: Id,
  name: v.string(),
  status: OrganizationStatus,
  ownerEmail: v.string(),
  planId: Id,
  planSlug: v.string(),
  planName: v.string(),
  limits: PlanLimits,
  createdAt: Timestamp,
  updatedAt: Timestamp,
});

export const Stats = v.object({
  totalCalls: Count,
  activeCalls: Count,
  activeAgents: Count,
  totalMinutes: v.number(),
  avgDurationSec: v.number(),
});

export const ModelSearchQuery = requestObject({
  category: choiceField("the kind of model", ["llm", "tts", "stt"]),
  query: v.optional(textField("words of a model's id or label", 200), ""),
  skip: wholeNumberParameter("how many to skip", { min: 0, max: SKIP_MAX, preset: 0 }),
  limit: wholeNumberParameter("how many to return", { min: 1, max: MODELS_PAGE_MAX, preset: 10 }),
});

export const FoundModel = v.object({
  providerId: Id,
  providerKey: v.string(),
  providerName: v.string(),
  modelId: v.string(),
  label: v.string(),
  source: v.pipe(v.string(), v.description("`global` or `client`")),
  allowed: v.boolean(),
  requiredPlan: v.pipe(
    v.nullable(v.string()),
    v.description("slug of the plan that includes the model, when the own plan does not"),
  ),
  takesKeyterms: v.pipe(
    v.nullable(v.boolean()),
    v.description("whether an STT model takes `persona.keyterms`; null where that is not known"),
  ),
  detectsLanguages: v.pipe(
    v.nullable(v.union([v.literal("any"), v.array(v.string())])),
    v.description(
      "the languages that an STT model tells apart within a call, for `persona.languages`: the first parts of their tags, or `any`; null where it tells none",
    ),
  ),
});

export const FoundModels = v.object({
  items: v.array(FoundModel),
  total: Count,
  skip: Count,
  limit: Count,
});
