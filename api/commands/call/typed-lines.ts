import { createInterface } from "node:readline";
import { UsageFault } from "../command-fault.js";
import type { Terminal } from "../terminal.js";
import { sayable } from "./call-options.js";
import type { Conversation } from "./conversation.js";

/**
 * Says every line that is typed; one that is typed while the agent talks interrupts it. Resolves when there is no more to
 * read and the agent has finished; rejects with CallEnded when the service ends the call.
 */
export async function sayTypedLines(conversation: Conversation, terminal: Terminal): Promise<void> {
  const lines = createInterface({ input: terminal.input, crlfDelay: Number.POSITIVE_INFINITY });
  try {
    await Promise.race([conversation.untilEnded(), sayAll(conversation, terminal, lines)]);
  } finally {
    lines.close();
  }
}

async function sayAll(
  conversation: Conversation,
  terminal: Terminal,
  lines: AsyncIterable<string>,
): Promise<void> {
  for await (const line of lines) {
    if (line.trim() === "") continue;
    await sayLine(conversation, terminal, line);
  }
  await conversation.over(conversation.lastTurn);
}

async function sayLine(
  conversation: Conversation,
  terminal: Terminal,
  line: string,
): Promise<void> {
  try {
    const text = sayable(line);
    await (conversation.isTalking ? conversation.interrupt(text) : conversation.say(text));
  } catch (error) {
    if (!(error instanceof UsageFault)) throw error;
    terminal.complain(error.message);
  }
}
