/** The replacement for each vendor's base address in the server's settings. */
export interface SandboxUrls {
  readonly deepgram: string;
  readonly openai: string;
  readonly groq: string;
  readonly ollama: string;
  readonly elevenlabs: string;
  readonly edge: string;
  readonly cartesia: string;
  readonly assemblyai: string;
  /** Servers with OpenAI's protocol: one stands for all, without a key. */
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
  /** Where telephones of other processes connect; without TLS, like the control pages, since no vendor uses it. */
  readonly telephones: string;
  /** The sandbox's own pages: its faults and its journal. */
  readonly desk: string;
}

/** `tlsAuthority`, if there is one, is the host of the vendors' own addresses. */
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
