/** What stands for each vendor's base address in the settings of the server. */
export interface SandboxUrls {
  readonly deepgram: string;
  readonly openai: string;
  readonly groq: string;
  readonly ollama: string;
  readonly elevenlabs: string;
  readonly edge: string;
  readonly cartesia: string;
  readonly assemblyai: string;
  /** Servers that speak OpenAI's protocol: one of them stands for all, and asks for no key. */
  readonly anthropic: string;
  readonly gemini: string;
  readonly mistral: string;
  readonly openrouter: string;
  readonly whisper: string;
  readonly kokoro: string;
  readonly twilio: string;
  readonly signalwire: string;
  readonly telnyx: string;
  readonly plivo: string;
  readonly vonage: string;
  readonly jambonz: string;
  /** The address of Asterisk's REST interface. */
  readonly asterisk: string;
  /** Where telephones of other processes are plugged in; without TLS, as the desk, since no vendor is reached by it. */
  readonly telephones: string;
  /** Where the sandbox's own pages are: its faults and its journal. */
  readonly desk: string;
}

/** `tlsAuthority`, where there is one, is what the vendors' own addresses name. */
export function urlsAt(authority: string, tlsAuthority?: string): SandboxUrls {
  const [s, at] = tlsAuthority === undefined ? ["", authority] : ["s", tlsAuthority];
  const compatible = `http${s}://${at}/compatible/v1`;
  return {
    deepgram: `ws${s}://${at}/deepgram`,
    openai: `http${s}://${at}/openai/v1`,
    groq: `http${s}://${at}/groq/openai/v1`,
    ollama: `http${s}://${at}/ollama`,
    elevenlabs: `http${s}://${at}/elevenlabs`,
    edge: `ws${s}://${at}/edge/consumer/speech/synthesize/readaloud/edge/v1`,
    cartesia: `http${s}://${at}/cartesia`,
    assemblyai: `ws${s}://${at}/assemblyai`,
    anthropic: compatible,
    gemini: compatible,
    mistral: compatible,
    openrouter: compatible,
    whisper: compatible,
    kokoro: compatible,
    twilio: `http${s}://${at}/twilio`,
    signalwire: `http${s}://${at}/signalwire`,
    telnyx: `http${s}://${at}/telnyx`,
    plivo: `http${s}://${at}/plivo`,
    vonage: `http${s}://${at}/vonage`,
    jambonz: `http${s}://${at}/jambonz`,
    asterisk: `http${s}://${at}/asterisk/ari`,
    telephones: `http://${authority}/twilio`,
    desk: `http://${authority}/sandbox`,
  };
}
