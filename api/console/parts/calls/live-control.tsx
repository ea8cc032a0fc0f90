import { useMutation } from "@tanstack/react-query";
import { Ear, EarOff, Mic, MicOff, Send } from "lucide-react";
import { type FormEvent, useEffect, useRef, useState } from "react";
import { answered, api } from "../../model/api.js";
import { ListenSession, type ListenState } from "../../model/listen-session.js";
import { useMe } from "../../model/queries.js";
import { CheckField, TextField } from "../forms/field.js";
import { Fault } from "../states.js";

interface LiveControlProps {
  readonly callId: string;
  /** Undefined while it is not known. */
  readonly isMuted: boolean | undefined;
}

/** What a person can do to a call in progress: speak through the agent, tell it something, mute it, listen. */
export function LiveControl({ callId, isMuted }: LiveControlProps) {
  const me = useMe();
  return (
    <section className="stack card" aria-label="Live control">
      <div className="row wrap">
        <MuteAgent callId={callId} isMuted={isMuted} />
        {me.data?.user.role === "admin" ? <Listen callId={callId} /> : null}
      </div>
      <Say callId={callId} />
      <AddContext callId={callId} />
    </section>
  );
}

function MuteAgent({ callId, isMuted = false }: LiveControlProps) {
  const mute = useMutation({
    mutationFn: (wanted: boolean) => {
      const params = { params: { path: { id: callId } } };
      return answered(
        wanted
          ? api.POST("/api/dashboard/calls/{id}/mute", params)
          : api.POST("/api/dashboard/calls/{id}/unmute", params),
      );
    },
  });
  return (
    <>
      <button
        type="button"
        className="button"
        aria-pressed={isMuted}
        disabled={mute.isPending}
        onClick={() => mute.mutate(!isMuted)}
      >
        {isMuted ? <Mic size={16} aria-hidden /> : <MicOff size={16} aria-hidden />}
        {isMuted ? "Unmute the agent" : "Mute the agent"}
      </button>
      <span className="soft" role="status">
        {isMuted ? "The agent hears the caller and says nothing." : ""}
      </span>
      {mute.error === null ? null : <Fault error={mute.error} />}
    </>
  );
}

const LISTEN_WORDS: Readonly<Record<ListenState, string>> = {
  opening: "Connecting…",
  playing: "You hear the caller on the left and the agent on the right.",
  over: "",
  failed: "The call cannot be listened to now. Try again.",
};

function Listen({ callId }: { callId: string }) {
  const [state, setState] = useState<ListenState>("over");
  const session = useRef<ListenSession>(undefined);
  useEffect(() => () => session.current?.stop(), []);
  const isOn = state === "opening" || state === "playing";
  const toggle = () => {
    if (isOn) session.current?.stop();
    else session.current = new ListenSession(callId, setState);
  };
  return (
    <>
      <button type="button" className="button" aria-pressed={isOn} onClick={toggle}>
        {isOn ? <EarOff size={16} aria-hidden /> : <Ear size={16} aria-hidden />}
        {isOn ? "Stop listening" : "Listen in"}
      </button>
      <span className="soft" role="status">
        {LISTEN_WORDS[state]}
      </span>
    </>
  );
}

function Say({ callId }: { callId: string }) {
  const [text, setText] = useState("");
  const [interrupt, setInterrupt] = useState(false);
  const say = useMutation({
    mutationFn: () =>
      answered(
        api.POST("/api/dashboard/calls/{id}/say", {
          params: { path: { id: callId } },
          body: { text, interrupt },
        }),
      ),
    onSuccess: () => setText(""),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    say.mutate();
  };
  return (
    <form className="stack tight" onSubmit={submit}>
      <TextField
        label="The agent says"
        hint="When neither it nor the caller is speaking."
        value={text}
        onChange={setText}
      />
      <CheckField label="Interrupt the agent" value={interrupt} onChange={setInterrupt} />
      {say.error === null ? null : <Fault error={say.error} />}
      <div>
        <button type="submit" className="button" disabled={text.trim() === "" || say.isPending}>
          <Send size={16} aria-hidden /> Say it
        </button>
      </div>
    </form>
  );
}

function AddContext({ callId }: { callId: string }) {
  const [text, setText] = useState("");
  const add = useMutation({
    mutationFn: () =>
      answered(
        api.POST("/api/dashboard/calls/{id}/context", {
          params: { path: { id: callId } },
          body: { text },
        }),
      ),
    onSuccess: () => setText(""),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    add.mutate();
  };
  return (
    <form className="stack tight" onSubmit={submit}>
      <TextField
        label="Note for the LLM"
        hint="It reads this from its next reply on. The caller does not hear it."
        value={text}
        onChange={setText}
      />
      {add.error === null ? null : <Fault error={add.error} />}
      <div className="row">
        <button type="submit" className="button" disabled={text.trim() === "" || add.isPending}>
          Add the note
        </button>
        <span className="soft" role="status">
          {add.isSuccess && text === "" ? "The LLM has the note." : ""}
        </span>
      </div>
    </form>
  );
}
