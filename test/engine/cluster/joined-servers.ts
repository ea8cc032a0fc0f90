import type { LocalServer } from "../../../engine/cluster/coordination.js";
import { Nodes } from "../../../engine/cluster/nodes.js";
import type { Database } from "../../../storage/database.js";
import type { BusListener, BusMessages } from "../../../storage/nodes/message-bus.js";
import type { NodeStart } from "../../../storage/nodes/node-store.js";
import { RecordingLogger } from "../../doubles/recording-logger.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";

export const CLAIMS = { callId: "call", orgId: "org", agentId: "agent", vendor: "twilio" };
export const HANDED = { claims: CLAIMS, callRef: "ref", answeredBy: "human" } as const;

/** Whatever the servers say to each other has come. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
}

/** The shared state of all servers of a database: its rows and its messages. */
export function newDatabase() {
  const asked: string[] = [];
  const holders = new Map<string, string>();
  const beats = new Map<string, unknown>();
  const listening: { readonly channels: readonly string[]; readonly listener: BusListener }[] = [];
  const posted: string[] = [];
  const way = { fault: undefined as Error | undefined, held: Promise.resolve() };
  const told = (words: string) => {
    asked.push(words);
    if (way.fault !== undefined) throw way.fault;
  };
  const callSlots = {
    take: async (slot: { callId: string; callsMax: number; startId: string }) => {
      told(`take ${slot.callId} of ${slot.callsMax}`);
      holders.set(slot.callId, slot.startId);
      return true;
    },
    free: async (startId: string, ids: readonly string[]) => told(`free ${startId} ${ids.join()}`),
    count: async () => 7,
    holderOf: async (callId: string) => holders.get(callId),
    move: async (callId: string, from: string, to: string) => {
      told(`move ${callId} ${from} ${to}`);
      if (holders.get(callId) !== from) return false;
      holders.set(callId, to);
      return true;
    },
    callsOf: async (startId: string) =>
      [...holders].flatMap(([id, by]) => (by === startId ? [id] : [])),
  };
  const nodes = {
    list: async () => [],
    register: async (_node: NodeStart) => undefined,
    beat: async (startId: string, said: unknown) => {
      await way.held;
      beats.set(startId, said);
      return [];
    },
    remove: async (startId: string) => told(`remove ${startId}`),
    runsOf: async () => [],
    orphanRuns: async () => [],
    addRun: async (startId: string, runId: string) => told(`run ${startId} ${runId}`),
  };
  const onceTokens = {
    purge: async () => told("purge"),
    take: async (key: string) => {
      told(key);
      return { isFirst: true, value: null };
    },
  };
  // Only what is called.
  const database = { nodes, callSlots, onceTokens, calls: {} } as unknown as Database;
  const post = async (channel: string, text: string) => {
    if (way.fault !== undefined) throw way.fault;
    posted.push(channel);
    for (const { channels, listener } of listening) {
      if (channels.includes(channel)) setImmediate(() => listener.onMessages(channel, text));
    }
  };
  const messageBus: BusMessages = {
    post,
    postToAll: async (channels, text) => {
      for (const channel of channels) await post(channel, text);
    },
    listen: async (channels, listener) => {
      const one = { channels, listener };
      listening.push(one);
      return async () => void listening.splice(listening.indexOf(one), 1);
    },
  };
  return { database, messageBus, asked, holders, beats, listening, posted, way };
}

type Shared = ReturnType<typeof newDatabase>;

/** A server that has joined and receives requests from the others. */
export async function newServer(
  { database, messageBus }: Shared,
  name: string,
  has: readonly string[] = [],
) {
  const clock = new VirtualClock();
  const log = new RecordingLogger();
  const heard: string[] = [];
  const calls = new Set(has);
  const hear = (words: string, callId: string) => {
    heard.push(`${words} ${callId}`);
    return calls.has(callId);
  };
  const cluster: LocalServer = {
    handlers: {
      isRinging: (callId) => hear("rings", callId),
      handOver: ({ callId }) => (hear("hand over", callId) ? HANDED : undefined),
      report: ({ claims }) => hear("report", claims.callId),
      endCall: ({ callId }) => hear("end", callId),
      controlCall: ({ callId, command }) =>
        hear(command.type, callId) ? "done" : ("elsewhere" as const),
      hasCall: (callId) => hear("has", callId),
    },
    callCount: 4,
    isTaking: true,
    hasCall: (callId) => calls.has(callId),
    events: {
      watchedTopics: () => [],
      onSubscription: () => void heard.push("wanted"),
      onEvent: () => void heard.push("news"),
    },
    breakers: { known: () => [], onBreakers: () => void heard.push("breakers") },
    recordsChanged: () => void heard.push("records"),
  };
  const startId = `start of ${name}`;
  const node = { startId, name, address: null, version: "1", capacity: 10 };
  const onLost = () => undefined;
  const nodes = new Nodes({ database, messageBus, node, isNameCertain: true, onLost, clock, log });
  const serve = async () => {
    await nodes.serve(cluster);
    await settled();
  };
  const served = async () => {
    await nodes.join();
    await serve();
  };
  return { nodes, startId, clock, log, heard, calls, serve, served };
}

/** The second has the call, and so its slot. */
export async function twoServers() {
  const shared = newDatabase();
  const one = await newServer(shared, "one");
  const two = await newServer(shared, "two", ["call"]);
  await one.served();
  await two.served();
  shared.holders.set("call", two.startId);
  for (const list of [shared.asked, shared.posted, one.heard, two.heard]) list.splice(0);
  return { shared, one, two };
}
