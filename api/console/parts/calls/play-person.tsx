import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { answered, api } from "../../model/api.js";
import { Fault } from "../states.js";
import { WriteLine } from "../talk/write-line.js";

/** In the sandbox: what is typed is said by the person whom the agent called. */
export function PlayPerson({ callId }: { callId: string }) {
  const [typed, setTyped] = useState("");
  const say = useMutation({
    mutationFn: (text: string) =>
      answered(
        api.POST("/api/dashboard/calls/{id}/person", {
          params: { path: { id: callId } },
          body: { text },
        }),
      ),
    onSuccess: () => setTyped(""),
  });
  return (
    <>
      <p className="soft">
        Sandbox: you play the person who was called. The agent hears what you type.
      </p>
      <WriteLine
        label="What the person says"
        hint="Say something to the agent"
        text={typed}
        isBusy={say.isPending}
        isFocused
        onText={setTyped}
        onSend={() => {
          if (typed.trim() !== "") say.mutate(typed.trim());
        }}
      />
      {say.error === null ? null : <Fault error={say.error} />}
    </>
  );
}
