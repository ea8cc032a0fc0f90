import { Mic } from "lucide-react";
import { Link } from "wouter";

/** What somebody does who sees this for the first time. */
export function FirstSteps() {
  return (
    <section className="card stack">
      <h2>Three steps</h2>
      <ol className="steps">
        <li>
          <span>Choose what an agent is to do: the desk, appointments, support, a survey.</span>
          <Link className="button main" href="/start">
            Choose a template
          </Link>
        </li>
        <li>
          <span>Talk to it here, with your microphone.</span>
          <Link className="button" href="/talk">
            <Mic size={16} aria-hidden /> Talk to an agent
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
