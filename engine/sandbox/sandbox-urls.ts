/** What stands for each vendor's base address in the settings of the server. */
export interface SandboxUrls {
  readonly deepgram: string;
  readonly openai: string;
  readonly groq: string;
  readonly ollama: string;
  readonly elevenlabs: string;
  readonly edge: string;
  readonly twilio: string;
  /** Where the sandbox's own pages are: its faults and its journal. */
  readonly desk: string;
}

export function urlsAt(authority: string): SandboxUrls {
  return {
    deepgram: `ws://${authority}/deepgram`,
    openai: `http://${authority}/openai/v1`,
    groq: `http://${authority}/groq/openai/v1`,
    ollama: `http://${authority}/ollama`,
    elevenlabs: `http://${authority}/elevenlabs`,
    edge: `ws://${authority}/edge/consumer/speech/synthesize/readaloud/edge/v1`,
    twilio: `http://${authority}/twilio`,
    desk: `http://${authority}/sandbox`,
  };
}
