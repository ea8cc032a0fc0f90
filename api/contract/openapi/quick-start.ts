interface Step {
  readonly text: string;
  readonly command?: string;
}

const STEPS: readonly Step[] = [
  {
    text: "Sign up. The answer holds a token, but the organization is pending until a platform administrator activates it: `npm run admin -- org activate ada@example.com`.",
    command: `curl -s $BASE/api/auth/signup -H 'content-type: application/json' \\
  -d '{"name":"Ada","email":"ada@example.com",
       "password":"at least 8 characters","orgName":"Example"}'`,
  },
  {
    text: "Once activated, sign in and keep the token for an hour; send it as a bearer token.",
    command: `TOKEN=$(curl -s $BASE/api/auth/signin -H 'content-type: application/json' \\
  -d '{"email":"ada@example.com","password":"at least 8 characters"}' | jq -r .token)`,
  },
  {
    text: "Choose models that the plan allows, one for each category: `llm`, `tts` and `stt`.",
    command: `curl -s "$BASE/api/dashboard/models/search?category=llm" -H "authorization: Bearer $TOKEN"`,
  },
  {
    text: "Create an agent with the ids that were found.",
    command: `curl -s $BASE/api/dashboard/agents -H "authorization: Bearer $TOKEN" \\
  -H 'content-type: application/json' \\
  -d '{"name":"Receptionist","llmProviderId":"…","llmModelId":"…",
       "ttsProviderId":"…","ttsModelId":"…","sttProviderId":"…"}'`,
  },
  {
    text: "Try it in text: the reply comes as server-sent events, through the prompt and the model of its calls.",
    command: `curl -sN $BASE/api/dashboard/agents/$AGENT/chat -H "authorization: Bearer $TOKEN" \\
  -H 'content-type: application/json' \\
  -d '{"messages":[{"role":"user","content":"When are you open?"}]}'`,
  },
  {
    text: "Create an API key for calls. It is shown once. Without `scopes` it would open the dashboard too, and make further keys: such a one belongs on your own server only.",
    command: `curl -s $BASE/api/dashboard/api-keys -H "authorization: Bearer $TOKEN" \\
  -H 'content-type: application/json' \\
  -d '{"name":"Website","scopes":["voice"]}'`,
  },
  {
    text: "Open the voice WebSocket with the key, wait for `connected`, and send the microphone; on a sandbox a program can call in its place.",
    command: `npm run call -- --url $BASE --key vk_… --text "My name is Anna."`,
  },
  {
    text: "Look at the calls, newest first, at one of them with its transcript, and at the usage of the last days.",
    command: `curl -s "$BASE/api/dashboard/calls?limit=5" -H "authorization: Bearer $TOKEN"
curl -s $BASE/api/dashboard/calls/$CALL -H "authorization: Bearer $TOKEN"
curl -s "$BASE/api/dashboard/analytics/usage?days=7" -H "authorization: Bearer $TOKEN"`,
  },
];

const RULES: readonly string[] = [
  "Bodies are JSON of at most 1 MiB. Fields that are not known are ignored; of equal keys the last counts.",
  "Every refusal has the body `{error}`, with `details: [{path, message}]` where fields are wrong. A 500 has a `requestId`, which every answer carries as `x-request-id` too.",
  "What belongs to another organization answers 404, as what does not exist.",
  "Lists that are paged take `skip` and `limit` and answer `{items, total, skip, limit}`; others are plain arrays.",
  "429 and 503 say in `Retry-After` how many seconds to wait. Sign-up and sign-in have a limit of their own, and so have tests of providers and chats with agents, which cost something at a vendor.",
  "A token or an API key opens the dashboard: `authorization: Bearer …`, `x-api-key: …`, or `api_key=…` in the query where headers cannot be set.",
];

/** In Markdown: how to get from nothing to a call, and what holds for every endpoint. */
export const QUICK_START: string = [
  "## How to start",
  "`BASE` is the address of this server, with its sub-path where it has one:",
  shellBlock("BASE=https://voice.example.com"),
  ...STEPS.map(stepText),
  "## What holds everywhere",
  RULES.map((rule) => `- ${rule}`).join("\n"),
].join("\n\n");

function stepText({ text, command }: Step, index: number): string {
  const line = `${index + 1}. ${text}`;
  return command === undefined ? line : `${line}\n\n${indented(shellBlock(command))}`;
}

function shellBlock(command: string): string {
  return `\`\`\`sh\n${command}\n\`\`\``;
}

/** Indents a block so that it belongs to its step, whose number and blank take three columns. */
function indented(block: string): string {
  return block.replaceAll(/^/gm, "   ");
}
