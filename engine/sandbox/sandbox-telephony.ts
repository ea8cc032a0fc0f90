import type { TelephonySettings } from "../telephony/telephony-settings.js";
import type { SandboxUrls } from "./sandbox-urls.js";

/** The account at the simulated Twilio of every sandbox. Its token is no secret, and good for nothing elsewhere. */
export const SANDBOX_TWILIO = {
  accountSid: `AC${"5a".repeat(16)}`,
  authToken: "the-sandbox-auth-token",
};

type TwilioSettings = Pick<TelephonySettings, "twilio" | "webhookKeys">;

/** Whether the operator has an account with the real vendor, or with one of their own. */
export function hasTwilioAccount({ twilio }: TwilioSettings): boolean {
  return twilio.accountSid !== undefined && twilio.authToken !== undefined;
}

/** The settings with the sandbox's account in place of one that is missing. A token that was set alone stays. */
export function twilioInSandbox(settings: TwilioSettings, { twilio }: SandboxUrls): TwilioSettings {
  if (hasTwilioAccount(settings)) return settings;
  const { accountSid, authToken } = SANDBOX_TWILIO;
  const token = settings.twilio.authToken ?? authToken;
  return {
    twilio: { accountSid, authToken: token, baseUrl: twilio },
    webhookKeys: { ...settings.webhookKeys, twilio: token },
  };
}
