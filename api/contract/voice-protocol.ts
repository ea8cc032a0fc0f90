/** What OpenAPI has no words for: the voice WebSocket, for the documentation. */
export const VOICE_PROTOCOL = {
  path: "/ws/voice",
  summary: "A call over a WebSocket: microphone audio in, spoken replies out.",
  parameters: [
    { name: "api_key", required: true, description: "an API key with the scope `voice`" },
    {
      name: "agent_id",
      required: false,
      description: "the agent to talk with; left out, the first active one in creation order",
    },
    {
      name: "session_id",
      required: false,
      description: "the `historyKey` of an earlier call, to go on with it within 24 hours",
    },
  ],
  clientSends:
    "Binary frames of raw PCM: 16 bit signed little-endian, 16 kHz, mono, at most 64 KiB each. Text frames are ignored.",
  serverSends: [
    {
      type: "connected",
      example: '{"type":"connected","agentName":"…","historyKey":"…"}',
      description: "ready: keep `historyKey`, then send the microphone",
    },
    {
      type: "transcript",
      example: '{"type":"transcript","payload":{"role":"user","text":"…","isFinal":true}}',
      description: "what was understood or said so far; `role` is `user` or `assistant`",
    },
    {
      type: "audioStop",
      example: '{"type":"audioStop"}',
      description: "the caller interrupted: stop all playback at once",
    },
    {
      type: "audioEnd",
      example: '{"type":"audioEnd"}',
      description: "the assistant has finished speaking",
    },
    {
      type: "error",
      example: '{"type":"error","payload":{"message":"…"}}',
      description: "sent before the server closes for another reason than a normal end",
    },
    {
      type: "binary",
      example: "MP3, 24 kHz",
      description: "the assistant's voice, one MP3 for each sentence, in order",
    },
  ],
  closeCodes: [
    { code: 1000, meaning: "normal end, also when a limit ended the call" },
    { code: 1009, meaning: "a frame was larger than 64 KiB" },
    { code: 1011, meaning: "a vendor or the server failed" },
    { code: 1012, meaning: "the server restarts: try again in some seconds" },
    { code: 1013, meaning: "the client reads too slowly, or the server is overloaded" },
    {
      code: 4001,
      meaning: "key wrong, revoked or without the scope; or organization pending: do not retry",
    },
    { code: 4003, meaning: "the agent uses a model that the plan does not include" },
    { code: 4004, meaning: "a provider of the agent is missing or switched off" },
    { code: 4005, meaning: "no such agent, or it is switched off" },
    {
      code: 4029,
      meaning: "too many connections a minute, calls at once or minutes a month: wait",
    },
  ],
} as const;
