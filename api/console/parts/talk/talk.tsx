import { Mic, MicOff, Phone, PhoneOff } from "lucide-react";
import { useEffect, useState, useSyncExternalStore } from "react";
import { MICROPHONE_FAULTS } from "../../../client/call-fault.js";
import { type Talk, TalkSession } from "../../model/talk-session.js";
import { waitWords } from "../../words/durations.js";
import { TalkDevices } from "./talk-devices.js";
import { TalkMeters } from "./talk-meters.js";
import { TalkRecord } from "./talk-record.js";
import { TalkWords } from "./talk-words.js";
import { WriteLine } from "./write-line.js";

const STATES = {
  idle: "Not in a call",
  connecting: "Connecting",
  listening: "Listens",
  thinking: "Thinks",
  speaking: "Speaks. Interrupt by speaking",
  reconnecting: "The connection broke. Trying again",
  ended: "The call has ended",
} as const;

/** Where the microphone brings nothing. */
const WRITTEN_STATES: Readonly<Record<keyof typeof STATES, string>> = {
  ...STATES,
  listening: "Waits for your words",
  speaking: "Speaks",
};

/** A call with the agent, with the microphone of this computer. */
export function TalkPanel({ agentId }: { agentId: string }) {
  const [session] = useState(() => new TalkSession(agentId));
  const talk = useSyncExternalStore(session.onTalk, session.talk);
  useEffect(() => () => session.hangUp(), [session]);
  const isOn = talk.state !== "idle" && talk.state !== "ended";
  const isDeaf =
    !talk.hasMicrophone && talk.fault !== undefined && MICROPHONE_FAULTS.has(talk.fault.code);
  return (
    <div className="stack">
      <TalkButton isOn={isOn} session={session} />
      <p className="row" role="status">
        <span className={`state ${isOn ? "live" : ""}`}>
          {(isDeaf ? WRITTEN_STATES : STATES)[talk.state]}
        </span>
        <span className="soft">{waitedWords(talk)}</span>
      </p>
      {talk.fault === undefined ? null : (
        <div className="note fault row" role="alert">
          <span>
            {talk.fault.message}
            {isDeaf && isOn ? " Until then, write below: it answers all the same." : ""}
          </span>
          {isDeaf && isOn ? (
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
      {isOn ? <TalkWriting session={session} /> : null}
      {talk.callId === undefined ? null : (
        <TalkRecord key={`${talk.callId} ${isOn}`} id={talk.callId} />
      )}
    </div>
  );
}

/** For who has no microphone, or sits among people. */
function TalkWriting({ session }: { session: TalkSession }) {
  const [text, setText] = useState("");
  return (
    <WriteLine
      label="Write in place of speaking"
      hint="Write in place of speaking"
      text={text}
      onText={setText}
      onSend={() => {
        if (session.write(text)) setText("");
      }}
    />
  );
}

function TalkButton({ isOn, session }: { isOn: boolean; session: TalkSession }) {
  return (
    <button
      type="button"
      className={`talk-button${isOn ? " on" : ""}`}
      onClick={() => (isOn ? session.hangUp() : void session.start())}
    >
      <span className="stack tight">
        {isOn ? <PhoneOff size={32} aria-hidden /> : <Phone size={32} aria-hidden />}
        {isOn ? "Hang up" : "Talk"}
      </span>
    </button>
  );
}

function waitedWords({ wait }: Talk): string {
  const waitedMs = wait?.sinceVoiceMs ?? wait?.sinceWordsMs;
  return waitedMs === undefined ? "" : `You waited ${waitWords(waitedMs)} for the last reply.`;
}
