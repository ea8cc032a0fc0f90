import { AgentCall, type AgentCallOptions } from "../../../api/client/agent-call.js";
import type { CallEvents } from "../../../api/client/call-events.js";
import { OwnSound } from "../../../api/client/own-sound.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";
import { ClientSocket } from "./client-socket.js";

const NAMES = [
  "state",
  "connected",
  "words",
  "turn",
  "wait",
  "levels",
  "fault",
  "mended",
  "ended",
] as const;

export interface CallStand {
  readonly call: AgentCall;
  readonly clock: VirtualClock;
  readonly sound: OwnSound;
  readonly stops: () => number;
  /** Returns every event of that name so far. */
  readonly told: <Name extends keyof CallEvents>(name: Name) => CallEvents[Name][];
}

export function stand(options: Partial<AgentCallOptions> = {}): CallStand {
  const clock = new VirtualClock();
  let stops = 0;
  const sound = new OwnSound({ onAudio: () => {}, onStop: () => (stops += 1) });
  const server = "https://voice.example.com";
  const own = { server, sound, clock, WebSocket: ClientSocket, chance: () => 0 };
  const call = new AgentCall({ ...own, ...options });
  const events: { name: keyof CallEvents; event: unknown }[] = [];
  for (const name of NAMES) call.on(name, (event) => events.push({ name, event }));
  const told = <Name extends keyof CallEvents>(name: Name) =>
    events.filter((each) => each.name === name).map(({ event }) => event as CallEvents[Name]);
  return { call, clock, sound, stops: () => stops, told };
}

export async function connected(options: Partial<AgentCallOptions> = {}): Promise<CallStand> {
  const made = stand(options);
  await made.call.start();
  ClientSocket.last.accept();
  return made;
}
