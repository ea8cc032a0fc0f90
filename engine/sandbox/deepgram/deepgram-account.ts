/** The one project of the sandbox. */
export const PROJECT_ID = "00000000-0000-4000-8000-00000000aaaa";
const KEY_ID = "00000000-0000-4000-8000-00000000bbbb";
const CREATED = "2026-01-01T00:00:00.000000Z";
const TOKEN_LIVES_SEC = 30;

export function project(): object {
  return { project_id: PROJECT_ID, name: "Sandbox", mip_opt_out: false };
}

/** `GET /v1/auth/token`: about the key that asks. */
export function keyDetails(): object {
  return {
    api_key_id: KEY_ID,
    scopes: ["usage:write"],
    tags: [],
    created: CREATED,
    accessor: KEY_ID,
    accounts: [PROJECT_ID],
  };
}

/** `POST /v1/auth/grant`: a token for a browser. The sandbox takes it as a key only while any key is good. */
export function grantedToken(): object {
  return { access_token: "sandbox-access-token", expires_in: TOKEN_LIVES_SEC };
}

export function models(): object {
  const model = {
    name: "nova-3",
    canonical_name: "nova-3-general",
    architecture: "nova-3",
    languages: ["en", "en-US", "es"],
    version: "sandbox",
    uuid: "00000000-0000-4000-8000-000000000000",
    batch: true,
    streaming: true,
    formatted_output: true,
  };
  return { stt: [model], tts: [] };
}
