/** What OpenAPI has no words for: the voice WebSocket, for the documentation. */
export const VOICE_PROTOCOL = {
  path: "/ws/voice",
  summary: "A call over a WebSocket: microphone audio in, spoken replies out.",
  parameters: [
    {
      name: "api_key",
      required: false,
      description:
        "an API key with the scope `voice`; left out with a `token`, and where the agent is public for the page's origin",
    },
    {
      name: "token",
      required: false,
      description: "a client token, in place of the key, which never goes into a page",
    },
    {
      name: "agent_id",
      required: false,
      description: "the agent to talk with; left out, the first active one in creation order",
    },
    {
      name: "session_id",
      required: false,
      description: "the `historyKey` of an earlier call, to continue it within 24 hours",
    },
    {
      name: "audio",
      required: false,
      description:
        "`stream`: the agent's audio is streamed as it is synthesized, which is faster and recommended for new clients; left out, one MP3 per sentence",
    },
    {
      name: "encoding",
      required: false,
      description:
        "with `audio=stream`: `pcm24k` (16 bit signed little-endian, 24 kHz; also when left out), `pcm16k` (the same at 16 kHz) or `mulaw` (8 kHz)",
    },
  ],
  clientSends:
    'Binary frames of raw PCM: 16 bit signed little-endian, 16 kHz, mono, at most 64 KiB each. Text frames are ignored, except with `audio=stream`: there `{"type":"played","turnId":3,"ms":1240}`, a few times per second, says how much of a turn\'s audio was played; the transcript follows it. `{"type":"written","text":"My name is Ada."}` is text that the caller types instead of speaking: the agent stops and answers; at most five in 5 seconds. `{"type":"tools","names":["show_order"]}` says which of the agent\'s tools of the type `client` this client uses, and `{"type":"toolResult","id":1,"result":{"items":2}}`, or `error` instead of `result`, answers a `toolCall`. An invalid message gets an `error` that names the field.',
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
      type: "audioStart",
      example: '{"type":"audioStart","turnId":3,"encoding":"pcm24k","sampleRateHz":24000}',
      description: "only with `audio=stream`: the binary frames that follow are of this turn",
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
      type: "toolCall",
      example: '{"type":"toolCall","id":1,"name":"show_order","arguments":{"order":"12"}}',
      description:
        "only with `audio=stream`, to a client that offers the tool: use it, and answer with a `toolResult` of this `id`",
    },
    {
      type: "error",
      example: '{"type":"error","payload":{"message":"…","code":"calls_limit_reached"}}',
      description:
        "sent before the server closes for another reason than a normal end; `code` is one of the list of error codes",
    },
    {
      type: "binary",
      example: "MP3, 24 kHz",
      description:
        "the assistant's voice, one MP3 for each sentence, in order; with `audio=stream` the next piece of the turn, at most 100 ms",
    },
  ],
  closeCodes: [
    { code: 1000, meaning: "normal end, also when a limit ended the call" },
    {
      code: 1008,
      meaning:
        "`audio` or `encoding` has a value that is not known; or the client sent audio more than 60 s ahead of real time, or too many frames",
    },
    { code: 1009, meaning: "a frame was larger than 64 KiB" },
    { code: 1011, meaning: "a vendor or the server failed" },
    { code: 1012, meaning: "the server restarts: try again in some seconds" },
    { code: 1013, meaning: "the client reads too slowly, or the server is overloaded" },
    {
      code: 4001,
      meaning:
        "key wrong, revoked or without the scope; token wrong, old or used; or organization pending: do not retry",
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
