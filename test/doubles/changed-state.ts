import {
  type AgentTurn,
  type ConversationState,
  SILENT,
  type Turn,
  turnOf,
} from "../../engine/conversation/state.js";

type Parts = Pick<ConversationState, "user" | "echo" | "record">;

export type StateChanges = Partial<Omit<ConversationState, keyof Parts | "agent">> & {
  readonly [Part in keyof Parts]?: Partial<Parts[Part]>;
} & { readonly turn?: Turn | undefined };

/** A copy of a conversation's state with other fields; a step on it leaves the state itself as it was. */
export function changed(state: ConversationState, changes: StateChanges): ConversationState {
  const { user, echo, record, turn = turnOf(state), ...rest } = changes;
  const { deadlines } = state;
  return {
    ...state,
    deadlines: { ...deadlines },
    ...rest,
    agent: "turn" in changes ? agentWith(changes.turn) : agentWith(turn),
    user: { ...state.user, ...user },
    echo: { ...state.echo, ...echo },
    record: { ...state.record, ...record },
  };
}

function agentWith(turn: Turn | undefined): AgentTurn {
  if (turn === undefined) return SILENT;
  return { state: turn.kind === "reply" ? "replying" : "saying", turn };
}
