import {
  type ConversionConfig,
  type JsonSchema,
  toJsonSchema,
  toJsonSchemaDefs,
} from "@valibot/to-json-schema";
import type { GenericSchema } from "valibot";
import {
  Me,
  OwnOrganization,
  PasswordBody,
  SignedIn,
  SignedUp,
  SignInBody,
  SignUpBody,
  User,
} from "../account.js";
import { Agent, AgentBody, AgentPatchBody } from "../agent.js";
import { ApiKey, ApiKeyBody, CreatedApiKey } from "../api-key.js";
import { AuditEntries, AuditEntry } from "../audit.js";
import { Call, CallCount, CallSummary, Calls, DailyUsage } from "../call.js";
import { ErrorBody, renamedNames, Success } from "../fields.js";
import { Member, MemberBody, MemberRoleBody } from "../member.js";
import { FoundModel, FoundModels, Organization, OrganizationBody, Stats } from "../organization.js";
import { OwnPlan, PlanLimits, PublicPlan } from "../plan.js";
import {
  Provider,
  ProviderBody,
  ProviderInUse,
  ProviderPatchBody,
  RegistryEntry,
} from "../provider.js";
import {
  OrganizationOverview,
  OrganizationOverviews,
  PlanChoice,
  PlatformNode,
} from "../routes/operator-routes.js";
import { Draining, Healthy, SetupStatus } from "../service-state.js";
import { ChatBody, ChatDone, ChatError, ChatToken, ProviderTest } from "../trial.js";

/** Schemas of requests that the OpenAPI document shows under a name of their own. */
export const REQUEST_COMPONENTS: Readonly<Record<string, GenericSchema>> = {
  SignUp: SignUpBody,
  SignIn: SignInBody,
  PasswordChange: PasswordBody,
  NewMember: MemberBody,
  MemberChange: MemberRoleBody,
  OrganizationChange: OrganizationBody,
  NewAgent: AgentBody,
  AgentChange: AgentPatchBody,
  NewProvider: ProviderBody,
  ProviderChange: ProviderPatchBody,
  NewApiKey: ApiKeyBody,
  Chat: ChatBody,
};

export const ANSWER_COMPONENTS: Readonly<Record<string, GenericSchema>> = {
  Agent,
  ApiKey,
  AuditEntries,
  AuditEntry,
  Call,
  CallCount,
  CallSummary,
  Calls,
  ChatDone,
  ChatError,
  ChatToken,
  CreatedApiKey,
  DailyUsage,
  Draining,
  Error: ErrorBody,
  FoundModel,
  FoundModels,
  Healthy,
  Me,
  Member,
  Organization,
  OrganizationOverview,
  OrganizationOverviews,
  OwnOrganization,
  OwnPlan,
  PlanChoice,
  PlanLimits,
  PlatformNode,
  Provider,
  ProviderInUse,
  ProviderTest,
  PublicPlan,
  RegistryEntry,
  SetupStatus,
  SignedIn,
  SignedUp,
  Stats,
  Success,
  User,
};

export type { JsonSchema } from "@valibot/to-json-schema";

const COMPONENTS = { ...REQUEST_COMPONENTS, ...ANSWER_COMPONENTS };
const NAMES = new Map(Object.entries(COMPONENTS).map(([name, schema]) => [schema, name]));

/** How a schema looks to who sends the value, or to who receives it. */
type SchemaDirection = "input" | "output";

export function componentSchemas(): Readonly<Record<string, JsonSchema>> {
  return {
    ...toJsonSchemaDefs(REQUEST_COMPONENTS, conversion("input")),
    ...toJsonSchemaDefs(ANSWER_COMPONENTS, conversion("output")),
  };
}

/** A reference where the schema is a component, so that the document says everything once. */
export function jsonSchemaOf(schema: GenericSchema, side: SchemaDirection): JsonSchema {
  const name = NAMES.get(schema);
  if (name !== undefined) return { $ref: referenceTo(name) };
  return withoutDefinitions(toJsonSchema(schema, { ...conversion(side), definitions: COMPONENTS }));
}

function referenceTo(name: string): string {
  return `#/components/schemas/${name}`;
}

function conversion(typeMode: SchemaDirection): ConversionConfig {
  return {
    target: "draft-2020-12",
    typeMode,
    errorMode: "throw",
    // Neither is a promise that a JSON Schema could make; the descriptions make it in words.
    ignoreActions: ["trim", "check", "check_items", "raw_check", "transform"],
    overrideRef: ({ referenceId }) => referenceTo(referenceId),
    overrideSchema: ({ valibotSchema, jsonSchema }) => {
      const entries = "entries" in valibotSchema ? valibotSchema.entries : undefined;
      if (typeof entries !== "object" || entries === null) return undefined;
      const properties = { ...jsonSchema.properties };
      for (const name of renamedNames(entries)) delete properties[name];
      return { ...jsonSchema, properties };
    },
    // JSON Schema's patterns are read with the flag `u` anyhow; the library refuses flags.
    overrideAction: ({ valibotAction, jsonSchema }) =>
      "requirement" in valibotAction && valibotAction.requirement instanceof RegExp
        ? { ...jsonSchema, pattern: valibotAction.requirement.source }
        : undefined,
  };
}

function withoutDefinitions({
  $schema: _draft,
  $defs: _components,
  ...schema
}: JsonSchema): JsonSchema {
  return schema;
}
