/** Every vendor of telephone calls, as addresses and settings name it. */
export const PHONE_VENDOR_NAMES = [
  "twilio",
  "telnyx",
  "signalwire",
  "plivo",
  "vonage",
  "jambonz",
  "asterisk",
  "audiosocket",
] as const;

export type PhoneVendorName = (typeof PHONE_VENDOR_NAMES)[number];

export function isPhoneVendorName(name: string): name is PhoneVendorName {
  return PHONE_VENDOR_NAMES.some((known) => known === name);
}

/** The platform's own accounts with telephony vendors, and what they sign with; calls come in without them too. */
export interface TelephonySettings {
  readonly twilio: {
    readonly accountSid: string | undefined;
    readonly authToken: string | undefined;
    readonly baseUrl: string;
  };
  readonly signalwire: {
    readonly projectId: string | undefined;
    readonly apiToken: string | undefined;
    /** The space's address, `https://example.signalwire.com`; there is none that all share. */
    readonly baseUrl: string | undefined;
  };
  readonly telnyx: {
    readonly apiKey: string | undefined;
    /** The id of the TeXML application that calls are placed with. */
    readonly texmlAppId: string | undefined;
    readonly baseUrl: string;
  };
  readonly plivo: {
    readonly authId: string | undefined;
    readonly authToken: string | undefined;
    readonly baseUrl: string;
  };
  readonly vonage: {
    readonly applicationId: string | undefined;
    /** PEM (PKCS #8). */
    readonly privateKey: string | undefined;
    /** Together with `apiSecret`, what numbers are imported with; only organizations' own accounts have both. */
    readonly apiKey?: string | undefined;
    readonly apiSecret?: string | undefined;
    readonly baseUrl: string;
  };
  readonly jambonz: {
    readonly accountSid: string | undefined;
    readonly apiKey: string | undefined;
    readonly baseUrl: string;
  };
  readonly asterisk: {
    readonly user: string | undefined;
    readonly password: string | undefined;
    /** The address of Asterisk's REST interface, such as `http://127.0.0.1:8088/ari`. */
    readonly baseUrl: string | undefined;
  };
  /** By vendor, what webhooks are signed with; where it is set, a signature is demanded. */
  readonly webhookKeys: WebhookKeys;
  /** 0 = no such door. */
  readonly audioSocketPort: number;
  /** Whose webhooks are taken. */
  readonly telephonyVendors: readonly string[];
}

/** The vendors' accounts. */
export type CallControlSettings = Pick<
  TelephonySettings,
  "twilio" | "signalwire" | "telnyx" | "plivo" | "vonage" | "jambonz" | "asterisk"
>;

export interface WebhookKeys {
  readonly twilio: string | undefined;
  readonly signalwire: string | undefined;
  readonly plivo: string | undefined;
  /** The vendor's public key: 32 bytes in base64. */
  readonly telnyx: string | undefined;
  readonly vonage: string | undefined;
  readonly jambonz: string | undefined;
}

/** The environment's variables, validated. */
export interface TelephonyVariables {
  readonly TWILIO_ACCOUNT_SID?: string | undefined;
  readonly TWILIO_AUTH_TOKEN?: string | undefined;
  readonly TWILIO_BASE_URL: string;
  readonly SIGNALWIRE_PROJECT_ID?: string | undefined;
  readonly SIGNALWIRE_API_TOKEN?: string | undefined;
  readonly SIGNALWIRE_SIGNING_KEY?: string | undefined;
  readonly SIGNALWIRE_BASE_URL?: string | undefined;
  readonly TELNYX_API_KEY?: string | undefined;
  readonly TELNYX_TEXML_APP_ID?: string | undefined;
  readonly TELNYX_PUBLIC_KEY?: string | undefined;
  readonly TELNYX_BASE_URL: string;
  readonly PLIVO_AUTH_ID?: string | undefined;
  readonly PLIVO_AUTH_TOKEN?: string | undefined;
  readonly PLIVO_BASE_URL: string;
  readonly VONAGE_APPLICATION_ID?: string | undefined;
  readonly VONAGE_PRIVATE_KEY?: string | undefined;
  readonly VONAGE_SIGNATURE_SECRET?: string | undefined;
  readonly VONAGE_BASE_URL: string;
  readonly JAMBONZ_ACCOUNT_SID?: string | undefined;
  readonly JAMBONZ_API_KEY?: string | undefined;
  readonly JAMBONZ_WEBHOOK_SECRET?: string | undefined;
  readonly JAMBONZ_BASE_URL: string;
  readonly ASTERISK_ARI_USER?: string | undefined;
  readonly ASTERISK_ARI_PASSWORD?: string | undefined;
  readonly ASTERISK_ARI_URL?: string | undefined;
  readonly AUDIOSOCKET_PORT: number;
  /** Empty: all. */
  readonly TELEPHONY_VENDORS: readonly string[];
}

/** A private key whose line breaks may be written as `\n`, as in an environment variable. */
export function withLineBreaks(privateKey: string | undefined): string | undefined {
  return privateKey?.replaceAll("\\n", "\n");
}

export function telephonySettings(env: TelephonyVariables): TelephonySettings {
  return {
    twilio: {
      accountSid: env.TWILIO_ACCOUNT_SID,
      authToken: env.TWILIO_AUTH_TOKEN,
      baseUrl: env.TWILIO_BASE_URL,
    },
    signalwire: {
      projectId: env.SIGNALWIRE_PROJECT_ID,
      apiToken: env.SIGNALWIRE_API_TOKEN,
      baseUrl: env.SIGNALWIRE_BASE_URL,
    },
    telnyx: {
      apiKey: env.TELNYX_API_KEY,
      texmlAppId: env.TELNYX_TEXML_APP_ID,
      baseUrl: env.TELNYX_BASE_URL,
    },
    plivo: {
      authId: env.PLIVO_AUTH_ID,
      authToken: env.PLIVO_AUTH_TOKEN,
      baseUrl: env.PLIVO_BASE_URL,
    },
    vonage: {
      applicationId: env.VONAGE_APPLICATION_ID,
      privateKey: withLineBreaks(env.VONAGE_PRIVATE_KEY),
      baseUrl: env.VONAGE_BASE_URL,
    },
    jambonz: {
      accountSid: env.JAMBONZ_ACCOUNT_SID,
      apiKey: env.JAMBONZ_API_KEY,
      baseUrl: env.JAMBONZ_BASE_URL,
    },
    asterisk: {
      user: env.ASTERISK_ARI_USER,
      password: env.ASTERISK_ARI_PASSWORD,
      baseUrl: env.ASTERISK_ARI_URL,
    },
    webhookKeys: {
      twilio: env.TWILIO_AUTH_TOKEN,
      signalwire: env.SIGNALWIRE_SIGNING_KEY,
      plivo: env.PLIVO_AUTH_TOKEN,
      telnyx: env.TELNYX_PUBLIC_KEY,
      vonage: env.VONAGE_SIGNATURE_SECRET,
      jambonz: env.JAMBONZ_WEBHOOK_SECRET,
    },
    audioSocketPort: env.AUDIOSOCKET_PORT,
    telephonyVendors:
      env.TELEPHONY_VENDORS.length === 0 ? PHONE_VENDOR_NAMES : env.TELEPHONY_VENDORS,
  };
}
