import type { CallStore } from "../../../storage/calls/call-store.js";
import { RequestError } from "../../request-error.js";
import type { Tenant } from "../../tenancy/tenant.js";

/** The sandbox is a thread of this server's process, so a longer answer is a fault. */
const ANSWER_MAX_MS = 5_000;

export interface SandboxPeopleOptions {
  /** Where the sandbox's settings are; undefined where telephone calls are real. */
  readonly controlUrl: string | undefined;
  readonly calls: Pick<CallStore, "findById">;
}

/** The simulated people who answer placed calls, and whose words can be typed. */
export class SandboxPeople {
  readonly #options: SandboxPeopleOptions;

  constructor(options: SandboxPeopleOptions) {
    this.#options = options;
  }

  /** The next call to this number is answered by a person whose words are typed. RequestError `validation_failed`. */
  async expectTyping(number: string): Promise<void> {
    const controlUrl = this.#requireSandbox("person: typed is for calls in the sandbox only");
    await order(controlUrl, { number });
  }

  /** RequestErrors `not_found`, `conflict` of a call that was not placed with `person: typed`, `call_ended`. */
  async say(tenant: Tenant, id: string, text: string): Promise<void> {
    const controlUrl = this.#requireSandbox("only people of the sandbox say what is typed");
    const call = await this.#options.calls.findById(tenant.organization.id, id);
    if (call === undefined) throw new RequestError("not_found", "there is no such call");
    if (call.status !== "active") throw new RequestError("call_ended", "the call has ended");
    const callSid = call.metadata["phoneCallId"];
    if (await order(controlUrl, { callSid, text })) return;
    throw new RequestError("conflict", "the call was not placed with person: typed");
  }

  #requireSandbox(message: string): string {
    const { controlUrl } = this.#options;
    if (controlUrl === undefined) throw new RequestError("conflict", message);
    return controlUrl;
  }
}

/** False when the sandbox has no such person. */
async function order(controlUrl: string, body: object): Promise<boolean> {
  const response = await fetch(`${controlUrl}/people`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(ANSWER_MAX_MS),
  });
  await response.body?.cancel();
  return response.ok;
}
