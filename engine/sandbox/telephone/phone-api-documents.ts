import * as v from "valibot";
import {
  type ConferenceInstruction,
  conferenceIn,
  type GatherInstruction,
  gatherIn,
  type SpokenInstruction,
} from "./conferences.js";
import { attribute, redirectIn, unescapeXml } from "./phone-webhook.js";

/** What a vendor does with a call when it has read a document. */
export type CallInstruction =
  | { readonly kind: "conference"; readonly conference: ConferenceInstruction }
  | {
      readonly kind: "question";
      readonly question: GatherInstruction;
      /** Requested when the person answers nothing; empty if the call ends then. */
      readonly unansweredUrl: string;
    }
  | { readonly kind: "hangUp" }
  /** The vendor requests the next document there. */
  | { readonly kind: "ask"; readonly url: string }
  /** A dialplan: the caller hears music, and asks for what follows again and again. */
  | { readonly kind: "wait"; readonly askUrl: string; readonly resultUrl: string }
  /** A dialplan: the caller's channel takes the channel of that id into a bridge. */
  | { readonly kind: "bridge"; readonly channelId: string }
  /** A dialplan: the person waits for the caller's bridge. */
  | { readonly kind: "awaitBridge" }
  /** A dialplan: the person is asked in a media stream. */
  | {
      readonly kind: "briefing";
      readonly token: string;
      readonly asked: string;
      readonly answerUrl: string;
    }
  /** A media stream, or another leg: the test that plays the other end follows it. */
  | { readonly kind: "other" };

export interface CallIds {
  readonly id: string;
  readonly to: string;
  readonly from: string;
}

export interface QuestionReply {
  readonly digits?: string;
  readonly speech?: string;
}

/** How one vendor reads documents of calls, and requests the next ones, from its documentation; independent of the code under test. */
export interface VendorCallDocuments {
  read(document: string): CallInstruction;
  /** The body of a request for the next document that nothing else has led to. */
  asked(call: CallIds): string;
  /** The body of the request with what the person has answered. */
  replied(call: CallIds, reply: QuestionReply): string;
  /** The body of the request when the call has left a conference; undefined if the vendor makes none. */
  left(call: CallIds, isThere: boolean): string | undefined;
  /** The body of a dialplan's report when a channel is done with the other one of a warm transfer, or hangs up. */
  legOver?(status: "ANSWER" | "CANCEL", isThere: boolean): string;
  /** The vendor requests what follows a verb that its REST API has interrupted, and would follow the answer. */
  readonly followsInterrupted?: true;
}

const form = (fields: Readonly<Record<string, string>>) => new URLSearchParams(fields).toString();
const plain = (number: string) => number.replace(/^\+/, "");

const HANGS_UP = /<Response>\s*<Hangup\b/;

function twiml(isAskedEmpty: boolean): VendorCallDocuments {
  const fields = ({ id, to, from }: CallIds) => ({
    CallSid: id,
    AccountSid: "a1",
    From: from,
    To: to,
  });
  return {
    read: (document) => {
      if (HANGS_UP.test(document)) return { kind: "hangUp" };
      const question = gatherIn(document);
      if (question !== undefined) {
        const [, behind = ""] = document.split("</Gather>");
        const unansweredUrl =
          isAskedEmpty && question.asksWithoutAnswer ? question.action : redirectBehind(behind);
        return { kind: "question", question, unansweredUrl };
      }
      return conferenceOrAsk(conferenceIn(document), redirectIn(document)?.url);
    },
    asked: (call) => form({ ...fields(call), CallStatus: "in-progress" }),
    replied: (call, { digits, speech }) =>
      form({
        ...fields(call),
        CallStatus: "in-progress",
        ...(digits !== undefined && { Digits: digits }),
        ...(speech !== undefined && { SpeechResult: speech, Confidence: "0.9" }),
      }),
    left: (call, isThere) =>
      form({
        ...fields(call),
        CallStatus: isThere ? "in-progress" : "completed",
        DialCallStatus: "answered",
      }),
  };
}

function redirectBehind(content: string): string {
  const url = /<Redirect\b[^>]*>([^<]+)<\/Redirect>/.exec(content)?.[1];
  return url === undefined ? "" : unescapeXml(url);
}

function conferenceOrAsk(
  conference: ConferenceInstruction | undefined,
  url: string | undefined,
): CallInstruction {
  if (conference !== undefined) return { kind: "conference", conference };
  return url === undefined || url === "" ? { kind: "other" } : { kind: "ask", url };
}

/** https://plivo.com/docs/voice/xml/conferencing and https://plivo.com/docs/voice/xml/getinput */
const plivo: VendorCallDocuments = {
  read: (document) => {
    if (HANGS_UP.test(document)) return { kind: "hangUp" };
    const input = /([\s\S]*?)<GetInput\b([^>]*)>([\s\S]*?)<\/GetInput>([\s\S]*)/.exec(document);
    if (input !== null) {
      const [, before = "", attributes = "", content = "", behind = ""] = input;
      const question = {
        introduction: plivoSpoken(before),
        question: plivoSpoken(content),
        action: attribute(attributes, "action"),
        asksWithoutAnswer: false,
      };
      return { kind: "question", question, unansweredUrl: redirectBehind(behind) };
    }
    const conference = /<Response><Conference\b([^>]*)>([^<]+)<\/Conference>/.exec(document);
    const [, attributes = "", name = ""] = conference ?? [];
    const read =
      conference === null
        ? undefined
        : {
            name: unescapeXml(name),
            startsOnEnter: attribute(attributes, "startConferenceOnEnter") !== "false",
            endsOnExit: attribute(attributes, "endConferenceOnExit") === "true",
            action: attribute(attributes, "action"),
          };
    return conferenceOrAsk(read, redirectIn(document)?.url);
  },
  asked: (call) => form({ ...plivoFields(call), CallStatus: "in-progress", Event: "Redirect" }),
  replied: (call, { digits, speech }) =>
    form({
      ...plivoFields(call),
      CallStatus: "in-progress",
      InputType: digits === undefined ? "speech" : "dtmf",
      Digits: digits ?? "",
      Speech: speech ?? "",
    }),
  left: (call, isThere) =>
    form({
      ...plivoFields(call),
      CallStatus: isThere ? "in-progress" : "completed",
      ConferenceAction: "exit",
    }),
};

function plivoFields({ id, to, from }: CallIds) {
  return { CallUUID: id, From: plain(from), To: plain(to), Direction: "outbound" };
}

function plivoSpoken(document: string): readonly SpokenInstruction[] {
  return [...document.matchAll(/<(Play|Speak)\b[^>]*>([^<]*)<\/\1>/g)].map(
    ([, verb, content = ""]) => ({
      verb: verb === "Play" ? "Play" : "Say",
      content: unescapeXml(content),
    }),
  );
}

function jsonOf(document: string): unknown {
  try {
    return JSON.parse(document);
  } catch {
    return [];
  }
}

const Address = v.pipe(v.string(), v.url());
const Urls = v.pipe(v.array(Address), v.length(1));
const VonageAction = v.variant("action", [
  v.strictObject({
    action: v.literal("conversation"),
    name: v.string(),
    startOnEnter: v.optional(v.boolean(), true),
    endOnExit: v.optional(v.boolean(), false),
    musicOnHoldUrl: v.optional(Urls),
  }),
  v.strictObject({
    action: v.literal("notify"),
    payload: v.record(v.string(), v.unknown()),
    eventUrl: Urls,
    eventMethod: v.literal("POST"),
  }),
  v.strictObject({
    action: v.literal("stream"),
    streamUrl: Urls,
    bargeIn: v.optional(v.boolean()),
  }),
  v.strictObject({
    action: v.literal("talk"),
    text: v.string(),
    language: v.optional(v.string()),
    bargeIn: v.optional(v.boolean()),
  }),
  v.strictObject({
    action: v.literal("input"),
    type: v.array(v.picklist(["dtmf", "speech"])),
    dtmf: v.strictObject({
      maxDigits: v.pipe(v.number(), v.maxValue(20)),
      timeOut: v.pipe(v.number(), v.maxValue(10)),
    }),
    speech: v.strictObject({
      language: v.string(),
      context: v.array(v.string()),
      startTimeout: v.pipe(v.number(), v.minValue(1), v.maxValue(60)),
      endOnSilence: v.pipe(v.number(), v.minValue(0.4), v.maxValue(10)),
    }),
    eventUrl: Urls,
    eventMethod: v.literal("POST"),
  }),
]);
type VonageAction = v.InferOutput<typeof VonageAction>;
const Ncco = v.array(VonageAction);

/** https://developer.vonage.com/en/voice/voice-api/ncco-reference */
const vonage: VendorCallDocuments = {
  read: (document) => {
    const parsed = v.safeParse(Ncco, jsonOf(document));
    if (!parsed.success) return { kind: "other" };
    const actions = parsed.output;
    const input = actions.find(({ action }) => action === "input");
    if (input?.action === "input") {
      const spoken = actions.slice(0, actions.indexOf(input));
      const isAsked = (each: VonageAction) => "bargeIn" in each && each.bargeIn === true;
      const question = {
        introduction: vonageSpoken(spoken.filter((each) => !isAsked(each))),
        question: vonageSpoken(spoken.filter(isAsked)),
        action: input.eventUrl[0] ?? "",
        asksWithoutAnswer: true,
      };
      return { kind: "question", question, unansweredUrl: question.action };
    }
    const [first] = actions;
    if (first?.action === "conversation") {
      const { name, startOnEnter: startsOnEnter, endOnExit: endsOnExit } = first;
      // What follows is done by a leg that is still there when the conversation is over; those whom a moderator leaves are not.
      return { kind: "conference", conference: { name, startsOnEnter, endsOnExit, action: "" } };
    }
    return first?.action === "notify"
      ? { kind: "ask", url: first.eventUrl[0] ?? "" }
      : { kind: "other" };
  },
  asked: () =>
    JSON.stringify({
      conversation_uuid: "CON-1",
      payload: { parley: "next" },
      timestamp: "2026-01-31T12:00:00.000Z",
    }),
  replied: ({ id, to, from }, { digits, speech }) =>
    JSON.stringify({
      speech: {
        ...(speech !== undefined && { results: [{ confidence: "0.9", text: speech }] }),
        ...(speech === undefined && { timeout_reason: "start_timeout" }),
      },
      dtmf: { digits: digits ?? null, timed_out: digits === undefined },
      from: plain(from),
      to: plain(to),
      uuid: id,
      conversation_uuid: "CON-1",
    }),
  left: () => undefined,
};

function vonageSpoken(actions: readonly VonageAction[]): readonly SpokenInstruction[] {
  return actions.flatMap((each): readonly SpokenInstruction[] => {
    if (each.action === "stream") return [{ verb: "Play", content: each.streamUrl[0] ?? "" }];
    return each.action === "talk" ? [{ verb: "Say", content: each.text }] : [];
  });
}

const Play = v.strictObject({ url: Address });
const Say = v.strictObject({ text: v.string(), synthesizer: v.looseObject({}) });
const JambonzVerb = v.variant("verb", [
  v.strictObject({
    verb: v.literal("conference"),
    name: v.string(),
    beep: v.optional(v.boolean()),
    startConferenceOnEnter: v.optional(v.boolean(), true),
    endConferenceOnExit: v.optional(v.boolean(), false),
    actionHook: v.optional(Address),
    waitHook: v.optional(Address),
  }),
  v.strictObject({
    verb: v.literal("gather"),
    input: v.tuple([v.literal("digits")]),
    numDigits: v.number(),
    timeout: v.number(),
    actionHook: Address,
    play: v.optional(Play),
    say: v.optional(Say),
  }),
  v.strictObject({ verb: v.literal("redirect"), actionHook: Address }),
  v.strictObject({ verb: v.literal("play"), ...Play.entries }),
  v.strictObject({ verb: v.literal("say"), ...Say.entries }),
  v.strictObject({ verb: v.literal("hangup") }),
]);
const Application = v.array(JambonzVerb);
const withoutRetries = (url: string) => url.split("#")[0] ?? "";

/** jambonz-feature-server, lib/tasks/conference.js, gather.js and task.js: unknown properties are refused. */
const jambonz: VendorCallDocuments = {
  followsInterrupted: true,
  read: (document) => {
    const parsed = v.safeParse(Application, jsonOf(document));
    if (!parsed.success) return { kind: "other" };
    const verbs = parsed.output;
    const gather = verbs.find(({ verb }) => verb === "gather");
    if (gather?.verb === "gather") {
      const { play, say, actionHook } = gather;
      const introduction = verbs.slice(0, verbs.indexOf(gather)).flatMap((each) => {
        if (each.verb === "play") return spokenOf(each, undefined);
        return each.verb === "say" ? spokenOf(undefined, each) : [];
      });
      const question = {
        introduction,
        question: spokenOf(play, say),
        action: withoutRetries(actionHook),
        asksWithoutAnswer: true,
      };
      return { kind: "question", question, unansweredUrl: question.action };
    }
    const [first] = verbs;
    if (first?.verb === "hangup") return { kind: "hangUp" };
    if (first?.verb === "conference") {
      const { name, startConferenceOnEnter, endConferenceOnExit, actionHook } = first;
      const conference = {
        name,
        startsOnEnter: startConferenceOnEnter,
        endsOnExit: endConferenceOnExit,
        action: withoutRetries(actionHook ?? ""),
      };
      return { kind: "conference", conference };
    }
    return first?.verb === "redirect"
      ? { kind: "ask", url: withoutRetries(first.actionHook) }
      : { kind: "other" };
  },
  asked: (call) => jambonzBody(call, { call_status: "in-progress" }),
  replied: (call, { digits }) =>
    jambonzBody(call, {
      call_status: "in-progress",
      reason: digits === undefined ? "timeout" : "dtmfDetected",
      ...(digits !== undefined && { digits }),
    }),
  left: (call, isThere) =>
    jambonzBody(call, { call_status: isThere ? "in-progress" : "completed" }),
};

function spokenOf(
  play: { readonly url: string } | undefined,
  say: { readonly text: string } | undefined,
): readonly SpokenInstruction[] {
  if (play !== undefined) return [{ verb: "Play", content: play.url }];
  return say === undefined ? [] : [{ verb: "Say", content: say.text }];
}

function jambonzBody({ id, to, from }: CallIds, own: Readonly<Record<string, string>>): string {
  return JSON.stringify({ call_sid: id, direction: "outbound", from, to, sip_status: 200, ...own });
}

/** The dialplan of docs/guides/telephony.md. */
const asterisk: VendorCallDocuments = {
  read: (document) => {
    const [verb, ...parts] = document.split("|");
    const [first = "", second = "", third = ""] = parts;
    if (verb === "wait") return { kind: "wait", askUrl: first, resultUrl: second };
    if (verb === "ask") return { kind: "briefing", token: first, asked: second, answerUrl: third };
    if (verb === "next") return { kind: "ask", url: first };
    if (verb === "join")
      return first === "" ? { kind: "awaitBridge" } : { kind: "bridge", channelId: first };
    return verb === "over" ? { kind: "hangUp" } : { kind: "other" };
  },
  asked: ({ id }) => form({ call: id }),
  replied: ({ id }) => form({ call: id }),
  left: () => undefined,
  legOver: (dialStatus, isThere) =>
    form({ dialStatus, duration: "1", ...(!isThere && { CallStatus: "completed" }) }),
};

export const VENDOR_CALL_DOCUMENTS = {
  signalwire: twiml(true),
  telnyx: twiml(false),
  plivo,
  vonage,
  jambonz,
  asterisk,
} as const satisfies Readonly<Record<string, VendorCallDocuments>>;
