import * as v from "valibot";
import { Failure } from "../../engine/failure.js";
import type { SetUp } from "../../engine/tenancy/organizations.js";
import { SignUpBody } from "../contract/account.js";
import { nameField, requestObject, textField } from "../contract/fields.js";
import { validated } from "../http/validation.js";
import type { AdminServices } from "./admin-store.js";
import { parseCommandLine } from "./command.js";
import { UsageFault } from "./command-fault.js";
import { printable, type Terminal } from "./terminal.js";

const DEFAULT_PLAN = "free";
const PLAN_CHARACTERS_MAX = 100;

/** Held to the rules of a sign-up. */
const NewOrganization = requestObject({
  name: nameField("the organization's name"),
  email: SignUpBody.entries.email,
  password: v.optional(SignUpBody.entries.password),
  plan: v.optional(textField("the plan's slug", PLAN_CHARACTERS_MAX), DEFAULT_PLAN),
});

/** Of the command line's options; a UsageFault names every wrong one. */
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
    if (!(error instanceof Failure) || error.details === undefined) throw error;
    const faults = error.details.map(({ path, message }) => `--${path}: ${message}`);
    throw new UsageFault(faults.join("; "));
  }
}

/** Prints the API key, which cannot be had again, and the password if it was made up here. */
export async function setUp(
  { organizations }: AdminServices,
  terminal: Terminal,
  wanted: SetUp,
): Promise<void> {
  const made = await organizations.setUp(wanted);
  const { name, ownerEmail } = made.organization;
  terminal.print(
    `"${printable(name)}" is active, with the plan ${wanted.planSlug ?? DEFAULT_PLAN}.`,
  );
  terminal.print(`  owner     ${printable(ownerEmail)}`);
  if (wanted.password === undefined) terminal.print(`  password  ${made.password}`);
  terminal.print(`  API key   ${made.apiKey.rawKey}`);
  terminal.print("Keep them now: nowhere are they stored in readable form.");
}
