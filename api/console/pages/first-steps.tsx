import { Mic } from "lucide-react";
import { Link } from "wouter";

/** What somebody does who sees this for the first time. */
export function FirstSteps() {
  return (
    <section className="card stack">
      <h2>Three steps</h2>
      <ol className="steps">
        <li>
          <span>Hear what an agent is like: talk to it here, with your microphone.</span>
          <Link className="button main" href="/talk">
            <Mic size={16} aria-hidden /> Talk to the demo agent
          </Link>
        </li>
        <li>
          <span>Make it yours: its first words, its instructions, its voice.</span>
          <Link className="button" href="/agents">
            Change the agent
          </Link>
        </li>
        <li>
          <span>Put it on a telephone number, or have it call somebody.</span>
          <Link className="button" href="/numbers">
            Numbers
          </Link>
        </li>
      </ol>
    </section>
  );
}
