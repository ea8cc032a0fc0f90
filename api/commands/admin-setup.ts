import * as v from "valibot";
import { RequestError } from "../../engine/request-error.js";
import { modelString } from "../../engine/tenancy/agents/agent-access.js";
import { createFirstAgent } from "../../engine/tenancy/agents/first-agent.js";
import type { SetUp, SetUpResult } from "../../engine/tenancy/organizations.js";
import type { FoundModel } from "../../engine/tenancy/providers/model-search.js";
import { ALL_SCOPES } from "../../engine/tenancy/tenant.js";
import type { Category } from "../../storage/records.js";
import { SignUpBody } from "../contract/account.js";
import { nameField, requestObject, textField } from "../contract/fields.js";
import { validated } from "../http/request/validation.js";
import type { AdminServices } from "./admin-store.js";
import { parseCommandLine } from "./command.js";
import { UsageError } from "./command-error.js";
import { printable, type Terminal } from "./terminal.js";

/** The plan of the operator's own organization. The plan for new customers would only restrict it. */
const DEFAULT_PLAN = "enterprise";
const PLAN_CHARACTERS_MAX = 100;
const AGENT_NAME = "First agent";

const NEEDED: Readonly<Record<Category, { readonly what: string; readonly settings: string }>> = {
  llm: { what: "an LLM", settings: "OPENAI_API_KEY or GROQ_API_KEY" },
  tts: { what: "a TTS vendor", settings: "OPENAI_API_KEY or ELEVENLABS_API_KEY" },
  stt: { what: "an STT vendor", settings: "DEEPGRAM_API_KEY" },
};

/** Warnings about vendors that are available without any configuration. */
const KEYLESS: Readonly<Record<string, string>> = {
  ollama: "no hosted LLM is configured: Ollama must run at OLLAMA_BASE_URL",
  edge: "no hosted TTS in the plan is configured: Edge is free and has no service guarantee",
};

/** Applies the rules of a sign-up. */
const NewOrganization = requestObject({
  name: nameField("the organization's name"),
  email: SignUpBody.entries.email,
  password: v.optional(SignUpBody.entries.password),
  plan: v.optional(textField("the plan's slug", PLAN_CHARACTERS_MAX), DEFAULT_PLAN),
});

/** Reads the organization from the command line's options. Throws a UsageError that lists every wrong one. */
export function readNewOrganization(args: readonly string[]): SetUp {
  const text = { type: "string" } as const;
  const { values } = parseCommandLine({
    args: [...args],
    options: { name: text, email: text, password: text, plan: text },
  });
  try {
    const { name, email, password, plan } = validated(NewOrganization, { ...values }, "setup");
    return { orgName: name, email, password, planSlug: plan };
  } catch (error) {
    if (!(error instanceof RequestError) || error.details === undefined) throw error;
    const faults = error.details.map(({ path, message }) => `--${path}: ${message}`);
    throw new UsageError(faults.join("; "));
  }
}

/**
 * Creates the organization and an agent that uses the configured vendors. Prints the API key, which cannot be shown
 * again, and the password if it was generated here.
 */
export async function setUp(
  services: AdminServices,
  terminal: Terminal,
  wanted: SetUp,
): Promise<void> {
  const made = await services.organizations.setUp(wanted);
  const { name, ownerEmail } = made.organization;
  terminal.print(
    `"${printable(name)}" is active, with the plan ${wanted.planSlug ?? DEFAULT_PLAN}.`,
  );
  terminal.print(`  owner     ${printable(ownerEmail)}`);
  if (wanted.password === undefined) terminal.print(`  password  ${made.password}`);
  terminal.print(`  API key   ${made.apiKey.rawKey}`);
  for (const line of await agentLines(services, made)) terminal.print(line);
  terminal.print("Save them now: they are not stored in readable form.");
}

async function agentLines(
  services: AdminServices,
  { organization: { id: orgId }, apiKey }: SetUpResult,
): Promise<readonly string[]> {
  const found = await services.organizations.find(orgId);
  if (found === undefined)
    throw new Error("the organization that was just created no longer exists");
  const apiKeyId = apiKey.record.id;
  const tenant = { ...found, userId: undefined, apiKeyId, scopes: ALL_SCOPES };
  const first = await createFirstAgent(services, tenant, AGENT_NAME);
  if (first.agent === undefined) return withoutAgent(first.missing);
  const { llm, tts, stt } = first.models;
  return [
    `  agent     "${AGENT_NAME}": STT ${nameOf(stt)}, LLM ${nameOf(llm)}, TTS ${nameOf(tts)}`,
    ...[llm, tts].filter(needsNoKey).map((model) => `            ${KEYLESS[model.providerKey]}`),
    `  call it   npm run call -- --key ${apiKey.rawKey}`,
    `  by phone  point your number's voice webhook at /api/telephony/voice?api_key=${apiKey.rawKey}`,
  ];
}

function withoutAgent(missing: readonly Category[]): readonly string[] {
  const what = missing.map((category) => NEEDED[category].what).join(" and ");
  const settings = missing.map((category) => NEEDED[category].settings).join(", and ");
  return [
    `  agent     none: ${what} is missing, or not in this plan. Start the server with ${settings};`,
    "            then make one with POST /api/dashboard/agents",
  ];
}

function nameOf({ providerKey, modelId }: FoundModel): string {
  return printable(modelString({ providerKey }, modelId));
}

function needsNoKey({ providerKey, source }: FoundModel): boolean {
  return source === "global" && KEYLESS[providerKey] !== undefined;
}
