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
import { ErrorBody, Success } from "../fields.js";
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
