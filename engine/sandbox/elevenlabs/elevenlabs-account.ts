const VOICES = [
  ["21m00Tcm4TlvDq8ikWAM", "Rachel"],
  ["JBFqnCBsd6RMkjVDRZzb", "George"],
] as const;
const CREATED_SEC = 1_767_225_600;

/** What `GET` answers at this path; undefined where there is nothing. */
export function accountAnswer(pathname: string): object | undefined {
  const voiceId = /^\/v1\/voices\/([^/]+)$/.exec(pathname)?.[1];
  if (voiceId !== undefined) return voices().find(({ voice_id }) => voice_id === voiceId);
  switch (pathname) {
    case "/v1/voices":
      return { voices: voices() };
    case "/v2/voices":
      return {
        voices: voices(),
        has_more: false,
        total_count: VOICES.length,
        next_page_token: null,
      };
    case "/v1/models":
      return [model("eleven_flash_v2_5"), model("eleven_multilingual_v2"), model("eleven_v3")];
    case "/v1/user":
      return user();
    case "/v1/user/subscription":
      return subscription();
    default:
      return undefined;
  }
}

function voices() {
  return VOICES.map(([voice_id, name]) => ({
    voice_id,
    name,
    category: "premade",
    samples: null,
    labels: { language: "en" },
    description: `${name} of the sandbox`,
    preview_url: null,
    available_for_tiers: [],
    settings: null,
    high_quality_base_model_ids: ["eleven_multilingual_v2"],
  }));
}

function model(model_id: string): object {
  return {
    model_id,
    name: model_id,
    can_do_text_to_speech: true,
    can_do_voice_conversion: false,
    can_be_finetuned: false,
    can_use_style: true,
    can_use_speaker_boost: true,
    serves_pro_voices: false,
    token_cost_factor: 1,
    max_characters_request_free_user: 2500,
    max_characters_request_subscribed_user: 40_000,
    languages: [{ language_id: "en", name: "English" }],
  };
}

function user(): object {
  return {
    user_id: "sandbox",
    workspace_id: "sandbox",
    subscription: subscription(),
    is_new_user: false,
    xi_api_key: null,
    can_use_delayed_payment_methods: false,
    is_onboarding_completed: true,
    is_onboarding_checklist_completed: true,
    first_name: "Sandbox",
    created_at: CREATED_SEC,
    seat_type: "workspace_admin",
  };
}

function subscription(): object {
  return {
    tier: "free",
    character_count: 0,
    character_limit: 1_000_000,
    max_credit_limit_extension: 0,
    can_extend_character_limit: false,
    allowed_to_extend_character_limit: false,
    voice_slots_used: 0,
    professional_voice_slots_used: 0,
    professional_voice_slots_used_in_workspace: 0,
    voice_limit: 3,
    voice_add_edit_counter: 0,
    professional_voice_limit: 0,
    can_extend_voice_limit: false,
    can_use_instant_voice_cloning: false,
    can_use_professional_voice_cloning: false,
    current_overage: { amount: "0", currency: "usd" },
    open_invoices: [],
    has_open_invoices: false,
    status: "active",
  };
}
