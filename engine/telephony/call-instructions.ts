import { TALK_MAX_SEC, type TransferReport } from "./transfer-report.js";

/** What a document needs to send a call's audio here. */
export interface StreamTarget {
  /** `wss://…`; `ws://…` only where no vendor is. Without a query: not all vendors would let one through. */
  readonly url: string;
  /** Come back in the `started` event. The token is one of them, an API key never. */
  readonly parameters: Readonly<Record<string, string>>;
  /** Asked what comes next when the stream has ended and the caller is still there; left out, nobody is. */
  readonly continueUrl?: string;
  /** Where the vendor tells of the stream's life. */
  readonly statusUrl?: string;
}

/** Something said to the caller before hanging up. */
export interface Farewell {
  readonly text: string;
  /** BCP-47, for example `en-US`; the vendor's own voice otherwise. */
  readonly language?: string;
}

/** The vendor is to wait, then to ask there what to do. */
export interface Wait {
  readonly url: string;
  readonly pauseSec: number;
}

/** Throws a RangeError for an address that a vendor would refuse or that could hold a secret in the open. */
export function plainAddress(url: string): string {
  const { protocol, search, hash, username, password } = new URL(url);
  const isSocket = protocol === "wss:" || protocol === "ws:";
  if (!isSocket || search !== "" || hash !== "" || username !== "" || password !== "") {
    throw new RangeError("the stream's address must be a WebSocket's, without a query or a name");
  }
  return url;
}

/** The caller is connected to another party. */
export interface Dial {
  /** E.164, or a SIP address. */
  readonly to: string;
  readonly ringSec: number;
  /** The vendor ends the conversation of the two after this time. */
  readonly talkMaxSec: number;
  /** Asked what comes next when that leg is over, or never came to be. */
  readonly resultUrl: string;
  /** The number that the person sees, E.164; left out, the vendor chooses. */
  readonly callerId?: string | undefined;
}

export function isSipAddress(to: string): boolean {
  return /^sips?:/i.test(to);
}

/** The documents that a vendor's webhook is answered with. */
export interface CallInstructions {
  readonly contentType: string;
  connect(target: StreamTarget): string;
  farewell(farewell: Farewell): string;
  /** Nothing comes after the stream; empty where no document says so. */
  hangUp(): string;
  /**
   * A call that was not answered continues to ring meanwhile, if the vendor supports that. Absent if there is no such
   * document.
   */
  hold?(wait: Wait): string;
  /** Hands the caller on, for a limited time of ringing. Absent where no document does. */
  dial?(dial: Dial): string;
  /** Absent where there is no warm transfer. */
  readonly warmTransfer?: WarmTransferDocuments;
  /** Which targets `dial` can name; absent: all. */
  mayDial?(to: string): boolean;
}

export interface BriefingPart {
  /** Where the vendor gets the sound of it; left out, it says `text` in a voice of its own. */
  readonly audioUrl?: string;
  readonly text: string;
}

/** What the person of a warm transfer hears, and is asked. */
export interface Briefing {
  /** Comes before the question, and what the person says meanwhile answers nothing. Left out when the question is repeated. */
  readonly introduction?: BriefingPart;
  readonly question: BriefingPart;
  /** BCP-47. */
  readonly language: string;
  /** Gets the key that the person presses or what the person says, and also nothing. */
  readonly answerUrl: string;
}

/** A caller's place in the conference of a warm transfer. */
export interface ConferenceWait {
  readonly conference: string;
  /** Asked what comes next when the conference is over. */
  readonly resultUrl: string;
  /** Answers with the caller's next document, also while the caller waits. */
  readonly holdUrl: string;
  /** Where a vendor without music of its own gets some. */
  readonly music: HoldMusic;
}

export interface HoldMusic {
  /** An MP3 file. */
  readonly soundUrl: string;
  /** Answers with the document that plays it. */
  readonly documentUrl: string;
}

/** The vendor's time limit for a conference, so that it ends even if no server is left to end it. */
export const CONFERENCE_MAX_SEC = TALK_MAX_SEC;

/** The documents of a warm transfer: the caller waits in a conference, which the person enters on accepting. */
export interface WarmTransferDocuments {
  wait(wait: ConferenceWait): string;
  /** What a caller hears meanwhile; absent where the vendor asks for no such document. */
  play?(soundUrl: string): string;
  ask(briefing: Briefing): string;
  /** The person's entry begins the conversation, and either one's exit ends it. */
  join(conference: string): string;
  /** The vendor is to ask there what to do. */
  goOn(url: string): string;
  /**
   * Joins a caller with the person of that id, who has accepted, at a vendor whose callers on hold ask again and again. Absent where
   * they do not ask: the vendor's REST API takes them out of the hold, and `join` is enough.
   */
  readonly joinCaller?: (personCallId: string) => string;
  /**
   * The answer to a vendor that asks what follows when its REST API has taken a call out of a verb, and would follow the answer;
   * absent where the vendor ignores it.
   */
  readonly interrupted?: string;
  /** False: no request says that the caller has hung up on hold. */
  readonly reportsCallerExit: boolean;
  /** Reads from the vendor's form what the person has answered; empty texts mean nothing. */
  answer(body: string): { readonly digits: string; readonly speech: string };
  /** Reads the vendor's report that the person's call is over; undefined while it is not. */
  personReport(body: string): TransferReport | undefined;
}

export const XML_DOCUMENT = "text/xml; charset=utf-8";
export const JSON_DOCUMENT = "application/json; charset=utf-8";
