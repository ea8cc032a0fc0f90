import { useMutation, useQuery } from "@tanstack/react-query";
import { Pause, PhoneOff, Play } from "lucide-react";
import {
  type ReactNode,
  type RefObject,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import WaveSurfer from "wavesurfer.js";
import RegionsPlugin from "wavesurfer.js/dist/plugins/regions.esm.js";
import { Link, useSearchParams } from "wouter";
import { answered, api, faultOf, fetchAsUser } from "../model/api.js";
import type { Answered } from "../model/contract-paths.js";
import { useLiveWords } from "../model/live-words.js";
import { useAgents, useApiKeys, useCall } from "../model/queries.js";
import { isKnown } from "../model/query-state.js";
import { SERVER_URL } from "../model/server-address.js";
import { type ToolUse, usedPassages } from "../model/tool-uses.js";
import { percentile, recordsOf, type TranscriptTurn, transcriptTurns } from "../model/turns.js";
import { agentNameOf, type ListedAgent } from "../parts/calls/call-rows.js";
import { saveFile } from "../parts/calls/csv-button.js";
import { LiveControl } from "../parts/calls/live-control.js";
import { PlayPerson } from "../parts/calls/play-person.js";
import { TransferCall } from "../parts/calls/transfer-call.js";
import { Waterfall } from "../parts/calls/waterfall.js";
import { CopyButton } from "../parts/copy-button.js";
import { type Figure, Figures } from "../parts/figures.js";
import { ConfirmDialog } from "../parts/forms/confirm-dialog.js";
import { Moment } from "../parts/moment.js";
import { PageHead } from "../parts/page-head.js";
import { Empty, Fault, Loaded, Outline } from "../parts/states.js";
import { TalkWords } from "../parts/talk/talk-words.js";
import { themeColor } from "../parts/theme-color.js";
import { answersOf } from "../words/answer-words.js";
import {
  analysisErrorWords,
  endingWords,
  numberFacts,
  otherEndWords,
} from "../words/call-words.js";
import { decisionsOf } from "../words/decision-words.js";
import { passagesWords } from "../words/document-words.js";
import { lengthWords, minuteWords, momentWords, waitWords } from "../words/durations.js";
import { KIND_NAMES } from "../words/provider-words.js";
import { toolWords } from "../words/tool-words.js";

/** Ends a call in progress, after asking. */
export function EndCall({ callId }: { callId: string }) {
  const [isAsking, setAsking] = useState(false);
  const end = useMutation({
    mutationFn: () =>
      answered(api.POST("/api/dashboard/calls/{id}/end", { params: { path: { id: callId } } })),
    onSuccess: () => setAsking(false),
  });
  if (end.isSuccess) {
    return (
      <span className="state live" role="status">
        The agent says goodbye
      </span>
    );
  }
  return (
    <>
      <button type="button" className="button fault" onClick={() => setAsking(true)}>
        <PhoneOff size={16} aria-hidden /> End the call
      </button>
      {isAsking ? (
        <ConfirmDialog
          title="End this call?"
          consequence="The agent stops, tells the caller that it has to end the call, and hangs up."
          keep="Let it go on"
          action="End the call"
          isBusy={end.isPending}
          error={end.error}
          onKeep={() => setAsking(false)}
          onAct={() => end.mutate()}
        />
      ) : null}
    </>
  );
}

/** In the address of a call whose person the viewer plays. */
export const PLAYED = "person";

interface LiveWordsProps {
  readonly callId: string;
  readonly isActive: boolean;
  /** Whether the viewer plays the person who was called, in the sandbox. */
  readonly isPlayed: boolean;
  /** Whether the server sends live words. */
  readonly onTold: (isPartial: boolean) => void;
}

/** The words of a call in progress as they are said. */
export function LiveWords({ callId, isActive, isPlayed, onTold }: LiveWordsProps) {
  const { words, isPartial, isMuted } = useLiveWords(callId, isActive);
  useEffect(() => onTold(isPartial), [isPartial, onTold]);
  if (!isActive) return null;
  return (
    <section className="stack tight card">
      <h2>
        <span className="state live">Now</span>
      </h2>
      {words.length === 0 ? (
        <p className="soft">
          {isPartial ? "The next words appear here." : "Live words are not available here."}
        </p>
      ) : (
        <TalkWords words={words} caller="Caller" />
      )}
      {isPlayed ? <PlayPerson callId={callId} /> : null}
      <LiveControl callId={callId} isMuted={isMuted} />
    </section>
  );
}

/** About two hours of two voices; more than that a page does not hold. */
const RECORDING_BYTES_MAX = 256 * 1024 * 1024;
const LANE_PX = 56;

export type Seek = (atSec: number) => void;

interface RecordingProps {
  readonly callId: string;
  /** Whether the call's record says that there is one. It does so as soon as the recording can be played. */
  readonly isKept: boolean;
  readonly turns: readonly TranscriptTurn[];
  readonly seek: RefObject<Seek | undefined>;
  readonly beginSec: number;
  readonly onTime: (atSec: number) => void;
}

/** The caller above, the agent below. A call that was not recorded has none of this. */
export function Recording(props: RecordingProps) {
  const { callId, isKept } = props;
  const sound = useQuery({
    queryKey: ["recording", callId],
    queryFn: () => recordingOf(callId),
    enabled: isKept,
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (sound.error !== null) return <Fault error={sound.error} retry={sound.refetch} />;
  if (sound.data === undefined && isKept) {
    return (
      <Frame isPlaying={false} onPlay={undefined} lengthSec={0}>
        <span className="bone lanes" aria-hidden />
      </Frame>
    );
  }
  if (sound.data === undefined || sound.data === "none") {
    return (
      <p className="soft">
        This call was not recorded. Recording is switched on in the agent’s settings.
      </p>
    );
  }
  if (sound.data === "large") {
    return (
      <p className="note warn">
        The recording is too long to show here. Download it through the API.
      </p>
    );
  }
  return <Lanes {...props} sound={sound.data} />;
}

async function recordingOf(callId: string): Promise<Blob | "none" | "large"> {
  const url = `${SERVER_URL}/api/dashboard/calls/${callId}/recording`;
  const response = await fetchAsUser(new Request(url));
  if (response.status === 404) return "none";
  if (!response.ok) throw faultOf(response.status, await response.json().catch(() => undefined));
  if (Number(response.headers.get("content-length") ?? 0) > RECORDING_BYTES_MAX) {
    await response.body?.cancel();
    return "large";
  }
  return response.blob();
}

function Lanes({ sound, callId, turns, seek, beginSec, onTime }: RecordingProps & { sound: Blob }) {
  const place = useRef<HTMLDivElement>(null);
  const player = useRef<WaveSurfer>(undefined);
  const [isPlaying, setPlaying] = useState(false);
  const [length, setLength] = useState(0);
  const atStart = useRef({ turns, beginSec, onTime });
  useEffect(() => {
    if (place.current === null) return undefined;
    const wave = newWave(place.current, atStart.current.turns);
    player.current = wave;
    seek.current = (atSec) => wave.setTime(atSec);
    wave.on("play", () => setPlaying(true));
    wave.on("pause", () => setPlaying(false));
    wave.on("timeupdate", (atSec) => atStart.current.onTime(atSec));
    wave.on("ready", (durationSec) => {
      setLength(durationSec);
      if (atStart.current.beginSec > 0) wave.setTime(atStart.current.beginSec);
    });
    void wave.loadBlob(sound);
    return () => {
      seek.current = undefined;
      wave.destroy();
    };
  }, [sound, seek]);
  return (
    <Frame
      isPlaying={isPlaying}
      onPlay={() => void player.current?.playPause()}
      onSave={() => saveFile(`call-${callId}.wav`, "audio/wav", sound)}
      lengthSec={length}
    >
      <div ref={place} className="lanes" />
    </Frame>
  );
}

interface FrameProps {
  readonly isPlaying: boolean;
  /** Undefined while the sound is being loaded. */
  readonly onPlay: (() => void) | undefined;
  readonly onSave?: () => void;
  readonly lengthSec: number;
  readonly children: ReactNode;
}

/** As high while the sound is being loaded as afterwards: what stands below is not pushed away. */
function Frame({ isPlaying, onPlay, onSave, lengthSec, children }: FrameProps) {
  return (
    <section className="card stack tight recording">
      <div className="row">
        <h2>Recording</h2>
        <button type="button" className="button" disabled={onPlay === undefined} onClick={onPlay}>
          {isPlaying ? <Pause size={16} aria-hidden /> : <Play size={16} aria-hidden />}
          {isPlaying ? "Pause" : "Play"}
        </button>
        {onSave === undefined ? null : (
          <button type="button" className="button" onClick={onSave}>
            Save recording
          </button>
        )}
        <span className="soft">
          Caller above, agent below, {momentWords(lengthSec)}. Click to play from a point.
        </span>
      </div>
      {children}
    </section>
  );
}

function newWave(container: HTMLElement, turns: readonly TranscriptTurn[]): WaveSurfer {
  const nonce = document.querySelector<HTMLMetaElement>('meta[name="style-nonce"]')?.content;
  const regions = RegionsPlugin.create();
  const wave = WaveSurfer.create({
    container,
    height: LANE_PX,
    cursorColor: themeColor("--ink"),
    splitChannels: [
      { waveColor: themeColor("--line-strong"), progressColor: themeColor("--ink-soft") },
      { waveColor: themeColor("--part-token"), progressColor: themeColor("--accent") },
    ],
    plugins: [regions],
    ...(nonce === undefined ? {} : { cspNonce: nonce }),
  });
  wave.on("decode", () => {
    for (const { atSec } of turns) regions.addRegion({ start: atSec, color: themeColor("--line") });
  });
  wave.on("interaction", () => void wave.play());
  return wave;
}

/** The tool calls of this turn; arguments and results are collapsed. */
export function ToolsUsed({ turn: { tools, moreTools } }: { turn: TranscriptTurn }) {
  if (tools.length === 0) return null;
  return (
    <ul className="tools-used">
      {tools.map((tool, index) => (
        <li key={index}>
          <UsedTool tool={tool} />
        </li>
      ))}
      {moreTools === 0 ? null : <li className="soft">and {moreTools} more that were not kept</li>}
    </ul>
  );
}

function UsedTool({ tool }: { tool: ToolUse }) {
  const { name, input, output, isDone } = tool;
  return (
    <details>
      <summary>
        <bdi>{name}</bdi> <span className={isDone ? "soft" : "state warn"}>{toolWords(tool)}</span>
      </summary>
      <div className="stack tight">
        <span className="soft">Arguments</span>
        <LiveDetails text={input} />
        {output === undefined ? null : (
          <>
            <span className="soft">Result</span>
            <LiveDetails text={output} />
          </>
        )}
      </div>
    </details>
  );
}

/** What the agent was given from documents for its reply, folded. */
function PassagesUsed({ turn: { record } }: { turn: TranscriptTurn }) {
  const passages = usedPassages(record);
  if (passages.length === 0) return null;
  return (
    <details>
      <summary>
        Looked up <span className="soft">{passagesWords(passages.length)}</span>
      </summary>
      <div className="stack tight">
        {passages.map(({ documentName, text }, index) => (
          <div key={index}>
            <bdi className="soft">{documentName}</bdi>
            <LiveDetails text={text} />
          </div>
        ))}
      </div>
    </details>
  );
}

/** JSON reads from left to right, whatever the language of the words in it. */
function LiveDetails({ text }: { text: string }) {
  return (
    <pre className="wrapped" tabIndex={0} dir={/^\s*[[{]/.test(text) ? "ltr" : "auto"}>
      {text}
    </pre>
  );
}

interface TranscriptProps {
  readonly turns: readonly TranscriptTurn[];
  /** The moment of the call that is shown or played. */
  readonly nowSec: number | undefined;
  readonly onMoment: (atSec: number) => void;
}

/** What was said as far as it was heard, and what the caller waited for before each reply. */
export function Transcript({ turns, nowSec, onMoment }: TranscriptProps) {
  const nowIndex =
    nowSec === undefined ? -1 : turns.findLastIndex(({ atSec }) => atSec <= nowSec + 0.05);
  const list = useFollowing(nowIndex);
  if (turns.length === 0) {
    return (
      <Empty title="Nothing was said">
        <p>No words were heard from either side. See above how the call ended.</p>
      </Empty>
    );
  }
  const longestMs = Math.max(...turns.map(({ wait }) => wait?.totalMs ?? 0));
  return (
    <section className="stack tight">
      <h2>Transcript</h2>
      <ol className="transcript card" ref={list}>
        {turns.map((turn, index) => (
          <li
            key={`${turn.timestamp} ${turn.role}`}
            className={`turn ${turn.role}${index === nowIndex ? " now" : ""}`}
            aria-current={index === nowIndex ? "true" : undefined}
          >
            <button
              type="button"
              className="at"
              data-row
              aria-label={`Go to ${momentWords(turn.atSec)}`}
              onClick={() => onMoment(turn.atSec)}
            >
              {momentWords(turn.atSec)}
            </button>
            <div className="stack tight">
              <p dir="auto">
                <span className="who" dir="ltr">
                  {turn.role === "user" ? "Caller" : "Agent"}
                </span>{" "}
                {turn.text}
                {turn.wasInterrupted ? <CutOff /> : null}
                <Unheard words={turn.unheard} />
              </p>
              {turn.wait === undefined ? null : (
                <Waterfall wait={turn.wait} longestMs={longestMs} />
              )}
              <Decisions turn={turn} />
              <ToolsUsed turn={turn} />
              <PassagesUsed turn={turn} />
              <Answers turn={turn} />
            </div>
          </li>
        ))}
      </ol>
    </section>
  );
}

/**
 * Brings the turn that is heard now into sight. Who has scrolled away from what plays is left there, until a click or a link asks
 * for another moment.
 */
function useFollowing(nowIndex: number): RefObject<HTMLOListElement | null> {
  const list = useRef<HTMLOListElement>(null);
  const before = useRef(-1);
  useEffect(() => {
    const [was, rows] = [before.current, list.current?.children];
    before.current = nowIndex;
    const playsOn = nowIndex === was + 1;
    if (playsOn && isOutOfSight(rows?.[was])) return;
    rows?.[nowIndex]?.scrollIntoView({ block: "nearest" });
  }, [nowIndex]);
  return list;
}

function isOutOfSight(row: Element | undefined): boolean {
  if (row === undefined) return false;
  const { top, bottom } = row.getBoundingClientRect();
  return bottom < 0 || top > innerHeight;
}

/** Why the caller's turn ended before this, and why the agent stopped or went on. */
function Decisions({ turn }: { turn: TranscriptTurn }) {
  const decisions = decisionsOf(turn.record);
  if (decisions.length === 0) return null;
  return (
    <p className="answers">
      {decisions.map((text) => (
        <span key={text} className="soft">
          {text}
        </span>
      ))}
    </p>
  );
}

/** Vendors that answered, and those that failed before. */
function Answers({ turn }: { turn: TranscriptTurn }) {
  const answers = answersOf(turn.record);
  if (answers.length === 0) return null;
  return (
    <p className="answers">
      {answers.map(({ text, isStandIn }) => (
        <span key={text} className={isStandIn ? "state warn" : "soft"}>
          {text}
        </span>
      ))}
    </p>
  );
}

/** What the agent had more to say, when the caller interrupted or hung up. */
function Unheard({ words }: { words: string }) {
  return words === "" ? null : (
    <>
      {" "}
      <s title="The caller never heard this">{words}</s>
    </>
  );
}

function CutOff() {
  return (
    <span className="soft" dir="ltr" title="The caller did not hear the rest.">
      {" "}
      – cut off here by the caller
    </span>
  );
}

type Call = Answered<"getCall">;

export function CallPage({ id }: { id: string }) {
  const [isPartial, setTold] = useState(false);
  const call = useCall(id, isPartial);
  const agents = useAgents();
  const keys = useApiKeys();
  // A head that is named for the agent later pushes away what stands below it, as does the name of a key.
  const data = isKnown(agents) && isKnown(keys) ? call.data : undefined;
  return (
    <Loaded
      query={{ data, error: call.error, refetch: call.refetch }}
      outline={<Outline lines={5} height={72} />}
      head={<PageHead title="Call" />}
      notFoundContent={
        <Link className="button" href="/calls">
          All calls
        </Link>
      }
    >
      {(whole) => (
        <CallDetails
          call={whole}
          agents={agents.data}
          keyName={keyNameOf(whole, keys.data)}
          onTold={setTold}
        />
      )}
    </Loaded>
  );
}

/** Undefined for a call that no key opened; the key's id where its name is not known. */
function keyNameOf({ metadata }: Call, keys: Answered<"listApiKeys"> | undefined) {
  const id = metadata?.["apiKeyId"];
  if (typeof id !== "string") return undefined;
  return keys?.find((key) => key.id === id)?.name ?? id;
}

interface CallDetailsProps {
  readonly call: Call;
  /** Undefined where they cannot be known. */
  readonly agents: readonly ListedAgent[] | undefined;
  readonly keyName: string | undefined;
  /** Whether the server tells what happens in the call. */
  readonly onTold: (isPartial: boolean) => void;
}

function CallDetails({ call, agents, keyName, onTold }: CallDetailsProps) {
  const [search, setSearch] = useSearchParams();
  const [nowSec, setNowSec] = useState<number>();
  const seek = useRef<Seek>(undefined);
  const startedAtMs = Date.parse(call.startedAt);
  const turns = useMemo(
    () => transcriptTurns(call.transcript, recordsOf(call.metadata), startedAtMs),
    [call, startedAtMs],
  );
  const askedSec = Number(search.get("t") ?? Number.NaN);
  const goTo = useCallback(
    (atSec: number) => {
      setSearch({ t: atSec.toFixed(1) }, { replace: true });
      setNowSec(atSec);
      seek.current?.(atSec);
    },
    [setSearch],
  );
  const agentName = agentNameOf(call.agentId, agents);
  return (
    <>
      <PageHead
        title={`${agentName} with ${otherEndWords(call)}`}
        about={<Moment at={call.startedAt} />}
      >
        {call.status === "active" && call.channel === "phone" ? (
          <TransferCall callId={call._id} />
        ) : null}
        {call.status === "active" ? <EndCall callId={call._id} /> : null}
        <CopyButton text={call._id} what="the id of the call" label="Copy ID" />
        {turns.length === 0 ? null : (
          <button
            type="button"
            className="button"
            onClick={() => saveFile(`call-${call._id}.txt`, "text/plain", transcriptText(turns))}
          >
            Save transcript
          </button>
        )}
        <a className="button" href="#raw">
          Raw JSON
        </a>
      </PageHead>
      <CallFigures call={call} turns={turns} keyName={keyName} />
      <EndingNote call={call} />
      <div className="in-step">
        {call.status === "active" ? null : (
          <Recording
            callId={call._id}
            isKept={call.metadata?.["recording"] !== undefined}
            turns={turns}
            seek={seek}
            beginSec={Number.isFinite(askedSec) ? askedSec : 0}
            onTime={setNowSec}
          />
        )}
        {call.status === "active" && turns.length === 0 ? null : (
          <Transcript
            turns={turns}
            nowSec={nowSec ?? (Number.isFinite(askedSec) ? askedSec : undefined)}
            onMoment={goTo}
          />
        )}
      </div>
      <LiveWords
        callId={call._id}
        isActive={call.status === "active"}
        isPlayed={search.has(PLAYED)}
        onTold={onTold}
      />
      <Raw call={call} />
    </>
  );
}

function transcriptText(turns: readonly TranscriptTurn[]): string {
  const lines = turns.map(({ atSec, role, text }) => {
    return `${momentWords(atSec)} ${role === "user" ? "Caller" : "Agent"}: ${text}`;
  });
  return `${lines.join("\n")}\n`;
}

interface CallFiguresProps extends Pick<CallDetailsProps, "call" | "keyName"> {
  readonly turns: readonly TranscriptTurn[];
}

function CallFigures({ call, turns, keyName }: CallFiguresProps) {
  const waits = turns.flatMap(({ wait }) => (wait === undefined ? [] : [wait.totalMs]));
  const p50Ms = percentile(waits, 0.5);
  const p95Ms = percentile(waits, 0.95);
  const figures: readonly Figure[] = [
    [call.status === "active" ? "State" : "Outcome", endingWords(call)],
    ["Started", minuteWords(Date.parse(call.startedAt))],
    ...numberFacts(call),
    ...(keyName === undefined ? [] : [["API key", keyName] as const]),
    ...simulatedFact(call),
    ...preCallFact(call),
    ...transferFacts(call),
    ...voicemailFact(call),
    ["Length", call.durationSec === undefined ? "–" : lengthWords(call.durationSec)],
    ["Latency p50", p50Ms === undefined ? "–" : waitWords(p50Ms)],
    ["Latency p95", p95Ms === undefined ? "–" : waitWords(p95Ms)],
    ["Turns", String(call.metrics.turnCount)],
    ["Interruptions", String(call.metrics.interruptions)],
    ["Tokens", call.metrics.totalTokens.toLocaleString()],
    ...(call.sentiment === undefined ? [] : [["Sentiment", call.sentiment] as const]),
  ];
  return (
    <div className="card stack">
      <Figures figures={figures} />
      {call.summary === undefined ? null : <p>{call.summary}</p>}
      {call.analysis === undefined ? null : <Analysis analysis={call.analysis} />}
    </div>
  );
}

/** What became of a transfer to a person; nothing where there was none. */
function transferFacts({ metadata }: Call): readonly Figure[] {
  const { result, mode, reason, waitedSec, durationSec, summary } = Object(metadata?.["transfer"]);
  if (typeof result !== "string") return [];
  const words = TRANSFER_WORDS[result] ?? result;
  const why =
    typeof reason === "string" && reason !== "" && reason !== result ? ` (${reason})` : "";
  const isText = typeof summary === "string" && summary !== "";
  return [
    [mode === "warm" ? "Warm transfer" : "Transfer", `${words}${why}`],
    ...(typeof waitedSec === "number" ? [["Caller on hold", lengthWords(waitedSec)] as const] : []),
    ...(typeof durationSec === "number"
      ? [["Length of the transfer", lengthWords(durationSec)] as const]
      : []),
    ...(isText ? [["The person was told", summary] as const] : []),
  ];
}

const TRANSFER_WORDS: Readonly<Record<string, string>> = {
  pending: "no report yet",
  dialing: "the person is being called",
  answered: "answered",
  busy: "busy",
  noAnswer: "no answer",
  rejected: "rejected",
  failed: "failed",
  canceled: "the caller hung up",
  notAccepted: "not accepted",
  machine: "an answering machine",
};

/** What the sandbox simulated in the call; nothing where that was none of it. */
function simulatedFact({ metadata }: Call): readonly Figure[] {
  const simulated = metadata?.["simulated"];
  if (!Array.isArray(simulated)) return [];
  const kinds = Object.entries(KIND_NAMES).filter(([category]) => simulated.includes(category));
  return [["Simulated", kinds.map(([, name]) => name).join(", ")]];
}

/** What an answering machine got of the agent's message; nothing where none took the call. */
function voicemailFact({ metadata }: Call): readonly Figure[] {
  const { messageLeft, text } = Object(metadata?.["voicemail"]);
  if (typeof messageLeft !== "boolean") return [];
  if (messageLeft) return [["Voicemail", "message left"]];
  return [["Voicemail", text === "" ? "no message" : "a part of the message"]];
}

/** What became of the request before the call; nothing where there was none. */
function preCallFact({ metadata }: Call): readonly Figure[] {
  const { outcome, status, durationMs, error, dropped } = Object(metadata?.["preCall"]);
  if (typeof outcome !== "string") return [];
  const answer = typeof status === "number" ? ` (${status})` : "";
  const fault = typeof error === "string" ? `: ${error}` : "";
  const words = PRE_CALL_WORDS[outcome] ?? outcome;
  const leftOut = Array.isArray(dropped) ? `; left out: ${dropped.join("; ")}` : "";
  const result = `${words}${answer} in ${waitWords(Number(durationMs))}${fault}${leftOut}`;
  return [["Request before the call", result]];
}

const PRE_CALL_WORDS: Readonly<Record<string, string>> = {
  ok: "answered",
  timeout: "no answer",
  refused: "refused",
  failed: "no connection",
  badAnswer: "an answer that could not be used",
};

/** What was taken out of the call when it was over, and whether it was a success. */
function Analysis({ analysis }: { analysis: NonNullable<Call["analysis"]> }) {
  const { status, success, reason, error, data } = analysis;
  const fields = Object.entries(data ?? {});
  return (
    <section className="stack tight">
      <h2>Analysis</h2>
      {status === "failed" ? (
        <p className="note warn">It failed: {analysisErrorWords(error)}.</p>
      ) : null}
      {success === null ? null : (
        <p>
          <span className={`state ${success ? "good" : "warn"}`}>
            {success ? "Success" : "No success"}
          </span>{" "}
          {reason}
        </p>
      )}
      {fields.length === 0 ? null : (
        <Figures figures={fields.map(([name, value]) => [name, fieldWords(value)] as const)} />
      )}
    </section>
  );
}

function fieldWords(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Why a call failed, and how long nothing was understood of it. */
function EndingNote({ call }: { call: Call }) {
  const failures = failedAnswers(call);
  const sttOutageMs = Number(call.metadata?.["sttOutageMs"] ?? 0);
  return (
    <>
      {call.status === "failed" ? (
        <div className="note fault">
          <p>This call failed: {endingWords(call)}.</p>
          {failures.map((text) => (
            <p key={text}>In its last turn: {text}.</p>
          ))}
          {failures.length === 0 ? null : (
            <p>
              <Link href="/providers">Test the provider</Link>, or give the agent a fallback.
            </p>
          )}
        </div>
      ) : null}
      {sttOutageMs > 0 ? (
        <p className="note warn">For {waitWords(sttOutageMs)} of this call STT returned nothing.</p>
      ) : null}
    </>
  );
}

/** Who was asked in vain in the last turn, which a call that failed may not have got through. */
function failedAnswers({ metadata }: Call): readonly string[] {
  const answers = answersOf(recordsOf(metadata).at(-1));
  return answers.flatMap(({ text, isStandIn }) => (isStandIn ? [text] : []));
}

function Raw({ call }: { call: Call }) {
  return (
    <details id="raw" className="card">
      <summary>Raw JSON, as the API has it</summary>
      <pre tabIndex={0}>{JSON.stringify(call, null, 2)}</pre>
    </details>
  );
}
