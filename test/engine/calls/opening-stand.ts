import type { TestContext } from "node:test";
import { CallSlots } from "../../../engine/calls/admission.js";
import { CallJournal } from "../../../engine/calls/call-journal.js";
import {
  CallOpener,
  type OpenedCall,
  type OpenRequest,
} from "../../../engine/calls/call-opener.js";
import { LiveCalls } from "../../../engine/calls/live-calls.js";
import { PreemptiveBudget } from "../../../engine/calls/preemptive-budget.js";
import type { Recordings } from "../../../engine/calls/recording/recordings.js";
import type { Ending } from "../../../engine/conversation/call-end.js";
import { WEB_AUDIO } from "../../../engine/conversation/leg-audio.js";
import { PreparedPhrases } from "../../../engine/conversation/prepared-phrases.js";
import { SpeechCache, VoicePaces } from "../../../engine/conversation/speech-cache.js";
import { PlayoutDelays } from "../../../engine/conversation/synthesis.js";
import { CredentialCipher } from "../../../engine/security/credential-cipher.js";
import type { AgentForCall } from "../../../engine/tenancy/agents/agent-for-call.js";
import { ALL_SCOPES, type Tenant } from "../../../engine/tenancy/tenant.js";
import { Connections } from "../../../engine/vendors/transport/connections.js";
import type { CallRecord, Category, HistoryMessage } from "../../../storage/records.js";
import { RecordChanges } from "../../../storage/statements/record-changes.js";
import { chainsOf } from "../../doubles/chains-of.js";
import { RecordingCaller } from "../../doubles/recording-caller.js";
import { ScriptedLanguageModel } from "../../doubles/scripted-language-model.js";
import { ScriptedVoice } from "../../doubles/scripted-voice.js";
import {
  agentRecord,
  organizationRecord,
  planRecord,
  providerRecord,
} from "../../storage/sample-records.js";
import { ScriptedRecognizer } from "../vendors/chain/scripted-recognizer.js";
import { WrittenCalls } from "./written-calls.js";

const ofCategory = (category: "llm" | "tts" | "stt") => providerRecord({ id: category, category });

export const TENANT: Tenant = {
  organization: organizationRecord({ status: "active" }),
  plan: planRecord(),
  userId: undefined,
  apiKeyId: "its key",
  scopes: ALL_SCOPES,
};

/** What an opener meets; a test changes it. */
interface Given {
  agent: () => Promise<AgentForCall>;
  /** Used up already in this month. */
  minutes: number;
  isSandboxed?: boolean;
  overload?: string | undefined;
  /** Callers who have returned meanwhile; only the first gets a place. */
  returned: number;
  storeRefusal?: string | undefined;
  history?: HistoryMessage[];
  last?: CallRecord;
  /** Undefined: no request. */
  mayReach: ((orgId: string, to: string) => boolean) | undefined;
  recording: Recordings["startRecording"];
  /** Throws where a provider's settings cannot be used. */
  vendorFault: (category: Category) => void;
}

/** An opener of calls on a store in memory and scripted vendors; what tests change is in `given`. */
export function openingStand(context: TestContext) {
  const store = new WrittenCalls();
  const { clock, log } = store;
  const llm = new ScriptedLanguageModel();
  const tts = new ScriptedVoice();
  const stt = new ScriptedRecognizer();
  const forCall: AgentForCall = {
    agent: agentRecord(),
    llm: ofCategory("llm"),
    tts: ofCategory("tts"),
    stt: ofCategory("stt"),
    sttModelId: "ears",
    fallbacks: { llm: [], tts: [], stt: [] },
    languageVoices: [],
  };
  const given: Given = {
    agent: async () => forCall,
    minutes: 0,
    returned: 0,
    mayReach: () => true,
    recording: () => undefined,
    vendorFault: () => undefined,
  };
  const ready: number[] = [];
  const refused: string[] = [];
  const ended: (readonly [callId: string, ending: Ending])[] = [];
  const slots = new CallSlots();
  const liveCalls = new LiveCalls();
  const connections = new Connections({ clock, allowPrivateAddresses: true });
  context.after(() => connections.close());
  const asked = <Client>(category: Category, client: Client) => {
    given.vendorFault(category);
    return client;
  };
  const clients = {
    llm: () => asked("llm", llm),
    tts: () => asked("tts", tts),
    stt: () => asked("stt", stt),
  };
  let idCount = 0;
  const opener = new CallOpener({
    database: {
      history: { load: async () => given.history, purge: async () => 7 },
      calls: { findLastOf: async () => given.last, findById: async () => given.last },
      usage: { minutesBetween: async () => given.minutes },
      usageChanges: new RecordChanges(),
      knowledge: { forCall: async () => [], search: async () => [] },
      writers: "one",
    },
    agents: { forCall: () => given.agent() },
    vendors: {
      chains: chainsOf(clients, clock),
      cipher: new CredentialCipher("5a".repeat(32)),
      context: { clock, connections },
    },
    journal: new CallJournal(store),
    feed: { hasWatchers: () => false, publishAudio: () => undefined },
    recordings: {
      startRecording: (...of) => given.recording(...of),
      converters: () => ({
        clock,
        decodeMp3: () => Promise.reject(new Error("nobody listens in")),
        openConversion: () => {
          throw new Error("nobody listens in");
        },
      }),
    },
    metrics: {
      callReady: (setUpMs: number) => void ready.push(setUpMs),
      callRefused: (reason: string) => void refused.push(reason),
      knowledgeSearched: () => undefined,
      lookedUp: () => undefined,
    },
    get dialTargets() {
      const { mayReach } = given;
      return mayReach && { mayReach: async (...of: [string, string]) => mayReach(...of) };
    },
    get isSandboxed() {
      return given.isSandboxed === true;
    },
    admission: {
      get refusal() {
        return given.overload;
      },
      get refusalOfReturning() {
        return given.returned < 1 ? undefined : given.overload;
      },
      noteReturning: () => void (given.returned += 1),
    },
    storeWatch: {
      get refusal() {
        return given.storeRefusal;
      },
    },
    hasOtherNodes: async () => false,
    endCall: (callId, ending) => {
      ended.push([callId, ending]);
      slots.release(callId);
      return true;
    },
    newId: () => `id-${++idCount}`,
    cache: new SpeechCache(1_000),
    playoutDelays: new PlayoutDelays(),
    voicePaces: new VoicePaces(),
    phrases: new PreparedPhrases(clock),
    preemptiveBudget: new PreemptiveBudget(1_000, clock),
    liveCalls,
    slots,
    clock,
    log,
  });
  const announced: OpenedCall[] = [];
  const caller = new RecordingCaller();
  const left = new AbortController();
  const open = (changes: Partial<OpenRequest> = {}) =>
    opener.open(
      {
        tenant: TENANT,
        agentId: undefined,
        historyKey: undefined,
        channel: "web",
        audio: WEB_AUDIO,
        ...changes,
      },
      caller,
      (call) => announced.push(call),
      left.signal,
    );
  /** What stands open, of slots and of calls. */
  const held = () => [slots.count, liveCalls.count];
  return {
    store,
    clock,
    log,
    llm,
    tts,
    stt,
    forCall,
    given,
    ready,
    refused,
    ended,
    slots,
    liveCalls,
    opener,
    announced,
    caller,
    left,
    open,
    held,
  };
}
