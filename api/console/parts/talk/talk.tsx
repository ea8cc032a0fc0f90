import { Mic, MicOff, Phone, PhoneOff } from "lucide-react";
import { useEffect, useRef, useState, useSyncExternalStore } from "react";
import { Link } from "wouter";
import { MICROPHONE_ERRORS } from "../../../client/call-error.js";
import { type SoundDevices, soundDevices } from "../../../client/client.js";
import { queryClient, useAgent, useCall, useProviders } from "../../model/queries.js";
import { type Talk, TalkSession } from "../../model/talk-session.js";
import { recordsOf, type Wait, waitOf } from "../../model/turns.js";
import { waitWords } from "../../words/durations.js";
import { Waterfall } from "../calls/waterfall.js";
import { Field, SelectField, TextField } from "../forms/field.js";
import { TalkWords } from "./talk-words.js";
import { WriteLine } from "./write-line.js";

const NONE: SoundDevices = { microphones: [], loudspeakers: [] };
/** What Chromium calls the system's own choices, beside the devices themselves. */
const OWN_CHOICES = new Set(["default", "communications"]);

/** Which microphone and loudspeaker a call uses, and how loud it is; to be shown once the browser has given a microphone. */
export function TalkDevices({ session }: { session: TalkSession }) {
  const { microphones, loudspeakers } = useSoundDevices();
  const [microphoneId, setMicrophoneId] = useState(session.microphoneId);
  const [loudspeakerId, setLoudspeakerId] = useState(session.loudspeakerId);
  const [volume, setVolume] = useState(session.volume);
  return (
    <details>
      <summary>Sound</summary>
      <div className="stack">
        <DeviceField
          label="Microphone"
          devices={microphones}
          value={microphoneId}
          onChange={(id) => {
            setMicrophoneId(id);
            void session.useMicrophone(id).then(() => setMicrophoneId(session.microphoneId));
          }}
        />
        <DeviceField
          label="Loudspeaker"
          devices={loudspeakers}
          value={loudspeakerId}
          onChange={(id) => {
            setLoudspeakerId(id);
            void session.useLoudspeaker(id).then(() => setLoudspeakerId(session.loudspeakerId));
          }}
        />
        <Field label="Volume">
          {(wired) => (
            <input
              {...wired}
              type="range"
              min={0}
              max={100}
              step={5}
              value={100 * volume}
              onChange={({ target }) => {
                session.setVolume(target.valueAsNumber / 100);
                setVolume(session.volume);
              }}
            />
          )}
        </Field>
      </div>
    </details>
  );
}

interface DeviceFieldProps {
  readonly label: string;
  readonly devices: readonly MediaDeviceInfo[];
  /** Empty: the system's own choice. */
  readonly value: string;
  readonly onChange: (deviceId: string) => void;
}

/** Where there is no choice there is nothing to ask. */
function DeviceField({ devices, ...field }: DeviceFieldProps) {
  const options = devices
    .filter(({ deviceId, label }) => label !== "" && !OWN_CHOICES.has(deviceId))
    .map(({ deviceId, label }) => ({ value: deviceId, label }));
  if (options.length < 2) return null;
  const own = { value: "", label: "As the system has it" };
  return <SelectField {...field} options={[own, ...options]} />;
}

/** As they come and go. */
function useSoundDevices(): SoundDevices {
  const [devices, setDevices] = useState(NONE);
  useEffect(() => {
    const media: Partial<MediaDevices> | undefined = navigator.mediaDevices;
    let isGone = false;
    const look = () =>
      void soundDevices().then(
        (found) => {
          if (!isGone) setDevices(found);
        },
        () => undefined,
      );
    look();
    media?.addEventListener?.("devicechange", look);
    return () => {
      isGone = true;
      media?.removeEventListener?.("devicechange", look);
    };
  }, []);
  return devices;
}

/** How loud both are, as two calm bars; it says that the microphone works. */
export function TalkMeters({ session }: { session: TalkSession }) {
  const levels = useSyncExternalStore(session.onLevels, session.levels);
  return (
    <div className="grid2" aria-hidden>
      <Meter label="You" level={levels.caller} />
      <Meter label="Agent" level={levels.agent} />
    </div>
  );
}

function Meter({ label, level }: { label: string; level: number }) {
  return (
    <div className="stack tight">
      <span className="soft">{label}</span>
      <div className="meter">
        <span style={{ transform: `scaleX(${Math.min(1, level).toFixed(3)})` }} />
      </div>
    </div>
  );
}

/**
 * What the caller waited for each reply. The server measures a reply's parts and stores them when its turn is over; until
 * then its wait is what this page has measured, without parts.
 */
function useTalkWaits({ callId, state, wait }: Talk): readonly Wait[] {
  const call = useCall(callId, false);
  const waits = recordsOf(call.data?.metadata).flatMap((record) => waitOf(record) ?? []);
  const [newest, setNewest] = useState({ wait, storedCount: 0 });
  if (newest.wait !== wait) setNewest({ wait, storedCount: waits.length });
  useEffect(() => {
    if (state === "listening" || state === "ended") {
      void queryClient.invalidateQueries({ queryKey: ["call", callId] });
    }
  }, [callId, state]);
  const waitedMs = wait?.sinceVoiceMs ?? wait?.sinceWordsMs;
  const isStored = newest.wait === wait && waits.length > newest.storedCount;
  if (waitedMs === undefined || isStored || state === "ended") return waits;
  return [...waits, { totalMs: Math.round(waitedMs), parts: [] }];
}

function TalkRecord({ id, waits }: { id: string; waits: readonly Wait[] }) {
  const longestMs = Math.max(...waits.map(({ totalMs }) => totalMs), 0);
  return (
    <section className="stack">
      {waits.length === 0 ? null : <h3>Wait for each reply</h3>}
      {waits.map((wait, index) => (
        <Waterfall key={index} wait={wait} longestMs={longestMs} />
      ))}
      <Link href={`/calls/${id}`}>This call’s page</Link>
    </section>
  );
}

const STATES = {
  idle: "Not in a call",
  connecting: "Connecting",
  listening: "Listens",
  thinking: "Thinking",
  speaking: "Speaks. Interrupt by speaking",
  reconnecting: "The connection broke. Trying again",
  ended: "The call has ended",
} as const;

/** Where the microphone brings nothing. */
const WRITTEN_STATES: Readonly<Record<keyof typeof STATES, string>> = {
  ...STATES,
  listening: "Listening",
  speaking: "Speaking",
};

/** A call with the agent, with the microphone of this computer. */
export function TalkPanel({ agentId }: { agentId: string }) {
  const isTyped = useIsSttSimulated(agentId);
  const isTypedNow = useRef(isTyped);
  isTypedNow.current = isTyped;
  const [session] = useState(() => new TalkSession(agentId, () => isTypedNow.current));
  const talk = useSyncExternalStore(session.onTalk, session.talk);
  useEffect(() => () => session.hangUp(), [session]);
  const waits = useTalkWaits(talk);
  const isOn = talk.state !== "idle" && talk.state !== "ended";
  const isMicrophoneFaulty = talk.fault !== undefined && MICROPHONE_ERRORS.has(talk.fault.code);
  const isDeaf = !talk.hasMicrophone && (isTyped || isMicrophoneFaulty);
  return (
    <div className="stack">
      {isTyped ? <SimulatedStt /> : null}
      {isOn ? null : <TestValues agentId={agentId} session={session} />}
      <TalkButton isOn={isOn} isTyped={isTyped} session={session} />
      <p className="row centered" role="status">
        <span className={`state ${isOn ? "live" : ""}`}>
          {(isDeaf ? WRITTEN_STATES : STATES)[talk.state]}
        </span>
        <span className="soft">{waitedWords(waits)}</span>
      </p>
      {talk.fault === undefined ? null : (
        <div className="note fault row" role="alert">
          <span>
            {talk.fault.message}
            {isDeaf && isMicrophoneFaulty && isOn
              ? " Until then, type below: the agent still answers."
              : ""}
          </span>
          {isDeaf && isMicrophoneFaulty && isOn ? (
            <button type="button" className="button" onClick={() => void session.useMicrophone()}>
              Try the microphone again
            </button>
          ) : null}
        </div>
      )}
      {isOn ? (
        <>
          <TalkMeters session={session} />
          <div hidden={isDeaf}>
            <button
              type="button"
              className="button"
              aria-pressed={talk.isMuted}
              onClick={() => session.setMuted(!talk.isMuted)}
            >
              {talk.isMuted ? <MicOff size={16} aria-hidden /> : <Mic size={16} aria-hidden />}
              {talk.isMuted ? "Microphone is off" : "Mute"}
            </button>
          </div>
        </>
      ) : null}
      {isOn && talk.callId !== undefined ? <TalkDevices session={session} /> : null}
      <TalkWords words={talk.words} caller="You" />
      {isOn ? <TalkWriting session={session} isFocused={isTyped} /> : null}
      {talk.callId === undefined ? null : <TalkRecord id={talk.callId} waits={waits} />}
    </div>
  );
}

/** Whether the agent's STT is simulated: it understands the tones of the sandbox's callers, and no people. */
function useIsSttSimulated(agentId: string): boolean {
  const agent = useAgent(agentId);
  const providers = useProviders();
  const stt = providers.data?.find(({ _id }) => _id === agent.data?.sttProviderId);
  return stt?.simulated === true;
}

/** What your server would give the call, for the variables that not every call has. */
function TestValues({ agentId, session }: { agentId: string; session: TalkSession }) {
  const names = useAgent(agentId).data?.variables ?? [];
  const [values, setValues] = useState(session.variables);
  if (names.length === 0) return null;
  return (
    <details>
      <summary>Test values</summary>
      <div className="stack">
        {names.map((name) => (
          <TextField
            key={name}
            label={name}
            value={values[name] ?? ""}
            onChange={(value) => {
              session.variables = { ...values, [name]: value };
              setValues(session.variables);
            }}
          />
        ))}
      </div>
    </details>
  );
}

/** Shown before the call: a caller who speaks to a simulated STT would get no answer and not know why. */
function SimulatedStt() {
  return (
    <p className="note warn">
      You type and the agent answers by voice: this server’s STT is simulated and cannot understand
      people. To speak, add an STT vendor’s key or a local Whisper server under{" "}
      <Link href="/providers">Providers</Link>, and press Test there.
    </p>
  );
}

/** For who has no microphone, or sits among people. */
function TalkWriting({ session, isFocused }: { session: TalkSession; isFocused: boolean }) {
  const [text, setText] = useState("");
  const label = isFocused ? "Type to the agent" : "Type instead of speaking";
  return (
    <WriteLine
      label={label}
      hint={label}
      text={text}
      isFocused={isFocused}
      onText={setText}
      onSend={() => {
        if (session.write(text)) setText("");
      }}
    />
  );
}

interface TalkButtonProps {
  readonly isOn: boolean;
  readonly isTyped: boolean;
  readonly session: TalkSession;
}

function TalkButton({ isOn, isTyped, session }: TalkButtonProps) {
  return (
    <button
      type="button"
      className={`talk-button${isOn ? " on" : ""}`}
      onClick={() => (isOn ? session.hangUp() : void session.start())}
    >
      <span className="stack tight">
        {isOn ? <PhoneOff size={32} aria-hidden /> : <Phone size={32} aria-hidden />}
        {isOn ? "Hang up" : isTyped ? "Start" : "Talk"}
      </span>
    </button>
  );
}

function waitedWords(waits: readonly Wait[]): string {
  const last = waits.at(-1);
  return last === undefined ? "" : `You waited ${waitWords(last.totalMs)} for the last reply.`;
}
