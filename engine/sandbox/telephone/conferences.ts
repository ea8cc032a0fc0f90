import { attribute, unescapeXml } from "./phone-webhook.js";

/** The conference of a document, https://www.twilio.com/docs/voice/twiml/conference. */
export interface ConferenceInstruction {
  readonly name: string;
  readonly startsOnEnter: boolean;
  readonly endsOnExit: boolean;
  /** Requested for the next step when it is over; empty if there is none. */
  readonly action: string;
}

/** Undefined for a document with another instruction. */
export function conferenceIn(document: string): ConferenceInstruction | undefined {
  const found = /<Dial\b([^>]*)>\s*<Conference\b([^>]*)>([^<]+)<\/Conference>\s*<\/Dial>/.exec(
    document,
  );
  if (found === null) return undefined;
  const [, dial = "", attributes = "", name = ""] = found;
  return {
    name: unescapeXml(name.trim()),
    startsOnEnter: attribute(attributes, "startConferenceOnEnter") !== "false",
    endsOnExit: attribute(attributes, "endConferenceOnExit") === "true",
    action: attribute(dial, "action"),
  };
}

/** A sound that is played, or words that the vendor's own voice says. */
export interface SpokenInstruction {
  readonly verb: "Play" | "Say";
  /** The address of the sound, or the words. */
  readonly content: string;
}

/** The question of a document, https://www.twilio.com/docs/voice/twiml/gather. */
export interface GatherInstruction {
  /** What the person hears before an answer counts. */
  readonly introduction: readonly SpokenInstruction[];
  readonly question: readonly SpokenInstruction[];
  readonly action: string;
  /** The action is requested also for a person who answers nothing. */
  readonly asksWithoutAnswer: boolean;
}

export function gatherIn(document: string): GatherInstruction | undefined {
  const found = /([\s\S]*?)<Gather\b([^>]*)>([\s\S]*?)<\/Gather>/.exec(document);
  if (found === null) return undefined;
  const [, before = "", attributes = "", content = ""] = found;
  return {
    introduction: spokenIn(before),
    question: spokenIn(content),
    action: attribute(attributes, "action"),
    asksWithoutAnswer: attribute(attributes, "actionOnEmptyResult") === "true",
  };
}

function spokenIn(document: string): readonly SpokenInstruction[] {
  return [...document.matchAll(/<(Play|Say)\b[^>]*>([^<]*)<\/\1>/g)].map(
    ([, verb, content = ""]) => ({
      verb: verb === "Play" ? "Play" : "Say",
      content: unescapeXml(content),
    }),
  );
}

interface Member {
  readonly endsOnExit: boolean;
  readonly leave: () => void;
}

/** A member's stay in a conference. */
export interface ConferenceStay {
  /** Resolves when the conference has begun. */
  readonly begun: Promise<void>;
  /** Resolves when the member has left, or the conference has ended. */
  readonly over: Promise<void>;
  exit(): void;
}

class Conference {
  readonly #members = new Set<Member>();
  readonly #begun: Promise<void>;
  #begin = () => {};

  constructor() {
    this.#begun = new Promise((resolve) => {
      this.#begin = resolve;
    });
  }

  get isEmpty(): boolean {
    return this.#members.size === 0;
  }

  enter({ startsOnEnter, endsOnExit }: ConferenceInstruction): ConferenceStay {
    let leave = () => {};
    const over = new Promise<void>((resolve) => {
      leave = resolve;
    });
    const member = { endsOnExit, leave };
    this.#members.add(member);
    if (startsOnEnter) this.#begin();
    return { begun: this.#begun, over, exit: () => this.#exit(member) };
  }

  #exit(member: Member): void {
    if (!this.#members.delete(member)) return;
    member.leave();
    if (!member.endsOnExit) return;
    for (const other of this.#members) other.leave();
    this.#members.clear();
  }
}

/** The account's conferences in progress, by name. */
export class Conferences {
  readonly #byName = new Map<string, Conference>();

  enter(instruction: ConferenceInstruction): ConferenceStay {
    const { name } = instruction;
    let conference = this.#byName.get(name);
    if (conference === undefined || conference.isEmpty) {
      conference = new Conference();
      this.#byName.set(name, conference);
    }
    const stay = conference.enter(instruction);
    void stay.over.then(() => {
      if (conference.isEmpty && this.#byName.get(name) === conference) this.#byName.delete(name);
    });
    return stay;
  }
}
