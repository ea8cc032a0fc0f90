import type { SandboxUrls } from "./sandbox-urls.js";

/** The account at the simulated Twilio of every sandbox. Its token is no secret, and good for nothing elsewhere. */
export const SANDBOX_TWILIO = {
  accountSid: `AC${"5a".repeat(16)}`,
  authToken: "the-sandbox-auth-token",
};

/** The part of a server's settings that the sandbox completes. */
interface TwilioSettings<Keys> {
  readonly twilio: {
    readonly accountSid: string | undefined;
    readonly authToken: string | undefined;
    readonly baseUrl: string;
  };
  /** By vendor, what webhooks are signed with. */
  readonly webhookKeys: Keys;
}

/** Whether the operator has an account with the real vendor, or with one of their own. */
export function hasTwilioAccount({ twilio }: TwilioSettings<unknown>): boolean {
  return twilio.accountSid !== undefined && twilio.authToken !== undefined;
}

/** The settings with the sandbox's account in place of one that is missing. A token that was set alone stays. */
export function twilioInSandbox<Keys extends { readonly twilio: string | undefined }>(
  settings: TwilioSettings<Keys>,
  { twilio }: SandboxUrls,
): TwilioSettings<Keys> {
  if (hasTwilioAccount(settings)) return settings;
  const { accountSid, authToken } = SANDBOX_TWILIO;
  const token = settings.twilio.authToken ?? authToken;
  return {
    twilio: { accountSid, authToken: token, baseUrl: twilio },
    webhookKeys: { ...settings.webhookKeys, twilio: token },
  };
}
