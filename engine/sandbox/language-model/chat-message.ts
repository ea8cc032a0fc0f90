/** A message of the conversation that a language model is sent, as far as the sandbox reads it. */
export interface ChatMessage {
  readonly role: string;
  readonly content: string;
}
