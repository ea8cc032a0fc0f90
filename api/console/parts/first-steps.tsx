import { Check, X } from "lucide-react";
import { useState } from "react";
import { Link } from "wouter";
import type { Answered } from "../model/contract-paths.js";
import { doneSteps, FIRST_STEP_IDS, type FirstStepId } from "../model/first-steps.js";
import { dismissGuide, isGuideDismissed } from "../model/guide-dismissal.js";
import {
  useAgents,
  useLatestCalls,
  useMe,
  useOutboundNumbers,
  useProviders,
} from "../model/queries.js";

interface Step {
  readonly title: string;
  readonly about: string;
  readonly action: string;
  /** `agentId` is the first agent's; undefined where there is none. */
  readonly addressOf: (agentId: string | undefined) => string;
}

const ofAgent = (tab: string) => (agentId: string | undefined) =>
  agentId === undefined ? "/start" : `/agents/${agentId}?tab=${tab}`;

const STEPS: Readonly<Record<FirstStepId, Step>> = {
  agent: {
    title: "Make an agent",
    about: "A template is a quick start: front desk, appointments, support or a survey.",
    action: "Choose a template",
    addressOf: () => "/start",
  },
  key: {
    title: "Add a vendor’s key",
    about: "LLM, TTS and STT are simulated until a vendor has a key.",
    action: "Providers",
    addressOf: () => "/providers",
  },
  voice: {
    title: "Choose a voice",
    about: "Listen to the vendor’s voices and pick one for the agent.",
    action: "Voices",
    addressOf: ofAgent("voice"),
  },
  call: {
    title: "Make the first call",
    about: "Talk to the agent here, with your microphone or by typing.",
    action: "Talk to an agent",
    addressOf: (agentId) => (agentId === undefined ? "/talk" : `/talk/${agentId}`),
  },
  number: {
    title: "Connect a telephone number",
    about: "Point the number at the agent, then call it.",
    action: "Numbers",
    addressOf: () => "/numbers",
  },
  page: {
    title: "Put the agent on a web page",
    about: "Allow the page’s address, and add two lines of HTML to it.",
    action: "Web page",
    addressOf: ofAgent("channels"),
  },
};

/** Whether a telephone call was ever made. */
export function usePhoneCalls(isTold: boolean) {
  return useLatestCalls({ channel: "phone" }, 1, isTold);
}

interface FirstStepsProps {
  readonly callCount: number;
  readonly isTold: boolean;
}

/** What a new organization does first. It goes away when all is done, or when it is dismissed. */
export function FirstSteps({ callCount, isTold }: FirstStepsProps) {
  const me = useMe();
  const agents = useAgents();
  const providers = useProviders();
  const phoneCalls = usePhoneCalls(isTold);
  const numbers = useOutboundNumbers();
  const organizationId = me.data?.organization.id ?? "";
  const [isDismissed, setDismissed] = useState(() => isGuideDismissed(organizationId));
  if (isDismissed || agents.data === undefined || providers.data === undefined) return null;
  const done = doneSteps({
    agents: agents.data,
    providers: providers.data,
    callCount,
    phoneCallCount: phoneCalls.data?.total ?? 0,
    inboundNumberCount: numbers.data?.inbound.length ?? 0,
    isTelephonySimulated: numbers.data?.simulated ?? true,
  });
  const next = FIRST_STEP_IDS.find((id) => !done.has(id));
  if (next === undefined) return null;
  return (
    <section className="card stack" aria-labelledby="first-steps-title">
      <div className="section-head">
        <div>
          <h2 id="first-steps-title">Get started</h2>
          <p className="soft">
            {done.size} of {FIRST_STEP_IDS.length} done
          </p>
        </div>
        <button
          type="button"
          className="button plain square"
          aria-label="Dismiss the guide"
          title="Dismiss"
          onClick={() => {
            dismissGuide(organizationId);
            setDismissed(true);
          }}
        >
          <X size={16} aria-hidden />
        </button>
      </div>
      <ol className="steps">
        {FIRST_STEP_IDS.map((id) => (
          <StepRow
            key={id}
            step={STEPS[id]}
            agent={agents.data[0]}
            isDone={done.has(id)}
            isNext={id === next}
          />
        ))}
      </ol>
    </section>
  );
}

interface StepRowProps {
  readonly step: Step;
  readonly agent: Answered<"getAgent"> | undefined;
  readonly isDone: boolean;
  readonly isNext: boolean;
}

function StepRow({ step, agent, isDone, isNext }: StepRowProps) {
  const { title, about, action, addressOf } = step;
  return (
    <li className={isDone ? "done" : ""}>
      <span className="mark">{isDone ? <Check size={14} aria-label="Done" /> : null}</span>
      <div>
        <strong>{title}</strong>
        <p className="soft">{about}</p>
      </div>
      <Link className={isNext ? "button main" : "button"} href={addressOf(agent?._id)}>
        {action}
      </Link>
    </li>
  );
}
