/** The values of `code` in an HTTP response: the refusals of the REST API, and the one code of a bug. */
export const REQUEST_ERROR_CODES = {
  invalid_request: "A field, a parameter or the body is invalid; `details` names each field.",
  wrong_password: "The current password that confirms a change is wrong.",
  call_rejected: "The telephony vendor refuses to place this call.",
  unauthenticated: "The request has no credential, or one of the wrong kind.",
  invalid_token: "The bearer token is wrong or has expired.",
  invalid_api_key: "The API key is wrong or was revoked.",
  wrong_credentials: "The e-mail or the password is wrong.",
  forbidden: "The credential is valid but may not do this.",
  organization_pending: "The organization has not been activated yet.",
  scope_missing: "The API key lacks the required scope.",
  admin_required: "Only a signed-in admin of the organization may do this.",
  operator_required: "Only an operator of the platform may do this.",
  model_not_allowed: "The plan does not include this model.",
  plan_feature_missing: "The plan does not include this feature.",
  plan_limit_reached: "The plan allows no more agents or providers.",
  limit_reached: "The organization has the maximum number of members or API keys.",
  provider_disabled: "The platform has switched this provider off.",
  provider_read_only: "Only the platform can change a global provider.",
  caller_number_not_allowed: "The organization may not call from this number.",
  target_not_allowed: "The organization may not call this number.",
  do_not_call: "The number is on the organization's do-not-call list.",
  invalid_signature: "The signature of the webhook does not match the request.",
  not_found: "The object does not exist in this organization.",
  path_not_found: "The server has no such path.",
  agent_not_found: "There is no such agent, or it is switched off.",
  plan_not_found: "There is no such plan.",
  method_not_allowed: "The path does not take this method; `Allow` lists those that it takes.",
  request_timeout: "The body did not arrive in time.",
  conflict: "The request conflicts with the current state of the resource.",
  idempotency_key_in_use: "The first request with this `Idempotency-Key` is still in progress.",
  email_taken: "An account with this e-mail already exists.",
  name_taken: "Another provider of this vendor and category has this name.",
  provider_in_use: "Agents use the provider; `agents` lists them.",
  provider_unavailable: "A provider of the agent is missing or switched off.",
  agent_not_active: "The agent is paused or switched off.",
  owner_protected: "The owner of the organization stays an admin and a member.",
  number_taken: "The number belongs to another organization.",
  call_ended: "The call has already ended.",
  body_too_large: "The body is larger than the limit.",
  unsupported_media_type: "The content type or the encoding of the body is not supported.",
  idempotency_key_reused: "The `Idempotency-Key` was used for a request with another body or path.",
  rate_limited: "Too many requests; `Retry-After` says when to try again.",
  calls_limit_reached: "The plan allows no more calls at the same time.",
  minutes_limit_reached: "The plan's minutes of this month are used up.",
  conversation_limit_reached: "The conversation can no longer be continued.",
  concurrency_limit_reached:
    "The organization or the address has too many requests of this kind in progress.",
  internal_error: "A server error; look up `requestId` in the log.",
  unavailable: "The server cannot do this at the moment.",
  overloaded: "The server is overloaded.",
  database_unavailable: "The database accepts no writes at the moment.",
  server_stopping: "The server is restarting.",
  telephony_unavailable: "The telephony vendor takes no calls at the moment.",
  not_configured: "The operator has not configured what this needs.",
} as const;

/** The values of `code` in the `error` message of a call, besides the codes of HTTP responses. */
export const VOICE_ERROR_CODES = {
  invalid_message: "The client sent an invalid frame; the call continues.",
  frame_too_large: "A frame of the client is larger than the limit.",
  caller_left: "The caller left.",
  caller_idle: "The caller sent nothing for too long.",
  client_too_slow: "The client reads too slowly.",
  client_too_fast: "The client sends audio or messages faster than the limit.",
  call_duration_limit_reached: "The call has reached its maximum duration.",
  language_model_failed: "The language model failed.",
  speech_synthesis_failed:
    "Speech synthesis failed; the reply could not be spoken, or not all of it.",
  speech_recognition_failed: "Speech recognition failed.",
  call_not_answered: "The line was busy, the call was not answered, or a machine answered.",
  unsupported_audio: "The telephony vendor sends audio that cannot be decoded.",
} as const;

/** Codes that appear only in logs and on command lines. */
export const PROCESS_ERROR_CODES = {
  configuration_invalid: "Environment variables are invalid; the message lists them.",
  start_failed: "The server cannot start; the message says what to do.",
  listen_failed: "The port is in use, or the host is not an address of this machine.",
  backend_unavailable: "The HTTP backend does not load on this machine.",
  command_failed: "A command could not complete.",
  usage_invalid: "A command line is invalid.",
  publish_keys_invalid: "The file of publishing keys has an invalid line.",
  call_refused: "A call could not be opened.",
  chat_failed: "A chat got no reply from the language model.",
  vendor_failed: "A vendor failed or refused; `fault` says how.",
  private_address: "A provider or tool leads to a private address.",
  organization_share_used_up:
    "The organization uses its whole share of this server; `limit` says which.",
  line_too_long: "A vendor sent a line beyond the limit.",
  bucket_failed: "The bucket of recordings failed or refused; `kind` says which.",
  audio_pool_overloaded: "The audio threads are overloaded.",
  audio_pool_closed: "The audio threads are stopping.",
  audio_file_invalid: "A WAV file cannot be read.",
  media_server_gone: "No media server listens at its address.",
  storage_failed: "A statement failed; `databaseCode` is the database's own code.",
  storage_stopped: "Storage is closed or its thread has ended.",
  storage_unavailable: "The database could not be opened.",
  transaction_lost: "A transaction was rolled back as a whole.",
  unique_violation: "A row with the same values exists already.",
  foreign_key_violation: "A row references one that does not exist, or is still referenced.",
  request_aborted: "The client closed the connection before its answer.",
  process_link_closed: "The other process of the server has ended.",
  process_not_started: "A worker process could not be started.",
} as const;

/** Every error code, with its meaning. Clients and alerts may rely on a code; messages may change. */
export const ERROR_CODES = {
  ...REQUEST_ERROR_CODES,
  ...VOICE_ERROR_CODES,
  ...PROCESS_ERROR_CODES,
} as const;

export type RequestErrorCode = keyof typeof REQUEST_ERROR_CODES;
export type VoiceErrorCode = RequestErrorCode | keyof typeof VOICE_ERROR_CODES;
export type ErrorCode = keyof typeof ERROR_CODES;

/** The base of every error that the server throws on purpose. Any other error is a bug, or comes from the system. */
export abstract class ParleyError extends Error {
  abstract readonly code: ErrorCode;
}
