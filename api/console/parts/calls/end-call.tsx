import { useMutation } from "@tanstack/react-query";
import { PhoneOff } from "lucide-react";
import { useState } from "react";
import { answered, api } from "../../model/api.js";
import { AskDialog } from "../forms/ask-dialog.js";

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
        <AskDialog
          title="End this call?"
          consequence="The agent stops, says to the caller that it has to end the call, and hangs up."
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
