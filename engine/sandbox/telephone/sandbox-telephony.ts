import type { SandboxUrls } from "../sandbox-urls.js";

/** The account at the simulated Twilio of every sandbox. Its token is public, and works nowhere else. */
export const SANDBOX_TWILIO = {
  accountSid: `AC${"5a".repeat(16)}`,
  authToken: "the-sandbox-auth-token",
};

/** The part of a server's settings that the sandbox completes. */
interface TwilioSettings {
  readonly twilio: {
    readonly accountSid: string | undefined;
    readonly authToken: string | undefined;
    readonly baseUrl: string;
  };
}

/** Whether the operator has an account with the real vendor, or with a simulator of their own. */
export function hasTwilioAccount({ twilio }: TwilioSettings): boolean {
  return twilio.accountSid !== undefined && twilio.authToken !== undefined;
}

/**
 * The settings with the sandbox's account instead of a missing one. A token that was set alone stays. The
 * simulated vendor's signatures are checked, but other clients of the webhook need not sign.
 */
export function twilioInSandbox<Settings extends TwilioSettings>(
  settings: Settings,
  { twilio }: SandboxUrls,
): Settings & { readonly optionalWebhookKeys?: { readonly twilio: string } } {
  if (hasTwilioAccount(settings)) return settings;
  const { accountSid } = SANDBOX_TWILIO;
  const authToken = settings.twilio.authToken ?? SANDBOX_TWILIO.authToken;
  return {
    ...settings,
    twilio: { accountSid, authToken, baseUrl: twilio },
    optionalWebhookKeys: { twilio: authToken },
  };
}
