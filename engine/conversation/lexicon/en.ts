import type { Lexicon } from "./language-lexicon.js";

export const ENGLISH: Lexicon = {
  backchannels: `
    yeah, yes, yep, yup, ya, yea, right, alright, all right, sure, sure thing, i see, got it, gotcha,
    i got it, got you, i understand, understood, makes sense, that makes sense, of course, exactly,
    absolutely, definitely, certainly, indeed, true, that's true, that's right, that's correct, correct,
    great, good, nice, cool, perfect, fine, really, good to know, fair enough, very good, very nice,
    sounds good, sounds great, i know, interesting, lovely, wonderful, excellent, awesome, amazing,
    fantastic, brilliant, for sure, no problem, you bet, that's good, that's great, that's fine,
    that's nice, that's cool, oh good, oh great, oh wow, oh yeah, oh yes, oh okay, oh i see, oh really,
    oh nice, okay then, okay good, okay great, okay cool, very well, okey dokey, totally
  `,
  closings: `
    bye, bye bye, goodbye, good bye, good night, thanks, thank you, thank you very much,
    thank you so much, thanks a lot, many thanks, cheers, thanks again, thanks for your help,
    thank you for your help, see you, see you then, see you later, see you soon, see you tomorrow,
    talk to you later, take care, have a nice day, have a good day, have a good one, have a great day,
    you too, and you, same to you, you as well, that's all, that's it, that was all, that will be all,
    that'll be all, that's everything, no that's all, no that's it, no thanks, no thank you,
    nothing else, i'm good, i'm all set, have a nice evening, have a good evening, have a nice weekend,
    till then, until then, bye now, bye for now, goodbye now, so long, later, catch you later, see ya,
    ta, talk soon, talk to you soon, speak soon, speak to you soon, until tomorrow, until next time,
    thanks so much, thank you so much for your help, thanks so much for your help,
    thanks for all your help, thank you for all your help, thanks a million, thank you kindly,
    thanks a bunch, thank you for your time, thanks for calling, thank you for calling, i appreciate it,
    i appreciate that, i appreciate your help, really appreciate it, i really appreciate it,
    much appreciated, appreciate it, you have a good day, you have a great day, you have a nice day,
    have a wonderful day, have a lovely day, have a lovely evening, have a great evening,
    have a great weekend, have a good weekend, have a lovely weekend, have a good night, good evening,
    good day, enjoy your day, enjoy your evening, enjoy your weekend, likewise, you're welcome,
    my pleasure, god bless, god bless you, merry christmas, happy holidays, happy new year, that is all,
    that is it, that is everything, no that is all, that's all for now, that's all for today,
    that's all i needed, that is all i needed, that's everything i needed, that's all i need,
    no that will be all, no that'll be all, no that's everything, no nothing else, nothing else thanks,
    no i'm good, no i'm all set, no i'm fine, i'm fine, all set, all good, it's all good, i'm done,
    we're done, we're good, nope that's it, nope that's all, nope, not today, not right now, not now,
    no that's fine, no that's okay, and thank you, and thanks, and bye, too, then, now, bye then,
    goodbye then, and goodbye, no thank you very much, alrighty, see you monday, see you tuesday,
    see you wednesday, see you thursday, see you friday, see you saturday, see you sunday,
    see you on monday, see you on tuesday, see you on wednesday, see you on thursday, see you on friday,
    see you on saturday, see you on sunday
  `,
  interruptions: "stop wait quiet enough pause",
  floorWords: `
    no nope hold on hang up excuse me sorry hey hello yes yeah okay ok please one moment a minute second
  `,
  answers: "sure right yep correct exactly",
  negations: "none nothing never neither",
  requests: String.raw`yes or no|(?:say|answer)[ ,:"“']+yes|please confirm|confirm (?:that|if|whether)`,
  hesitations: "uh uhm um umm er erm hmm hm uhh ah eh well",
  openers: `
    and but or because the an my your our his her their if than of a whose which which's i'm it's i'd
    i'll into
  `,
  connectives: `
    that is, that is to say, for example, for instance, such as, namely, as well as, either, neither,
    in other words, which means, except, except for, let's say, shall we say, at least, more like,
    the one with, in case, as long as, unless, although, while, until, since, so that, in order to,
    due to, instead of, because of, depending on, along with
  `,
  announcing:
    /^(?!.*\b(?:what|where|who|how|when|which|why|whose)\b).*\b(?:my|the|our|his|her|this)\b.* (?:is|are|was)$/iu,
  joining:
    /^(?!.*(?:\b(?:what|where|who|how|when|which|why|whose|whom|that|all|nothing|something|anything|some(?:one|body)|any(?:one|body)|not|used|love|glad|happy|have|want|need|supposed|able)\b|n['’]t\b)).+ (?:to|for|with|from|about|at|between|until)$|(?:^|\s)let me (?:see|think|check|look)$|(?<!\b(?:do|did|as|if)\s)\byou know$/iu,
  ones: `
    zero/oh one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
    sixteen seventeen eighteen nineteen
  `,
  tens: "twenty thirty forty fifty sixty seventy eighty ninety",
  magnitudes: "hundred thousand",
  moreNumbers: "nought",
  composedNumbers: [String.raw`(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)-\p{L}+`],
  ordinals: `
    zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth
    fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth
  `,
  ordinalTens: "twentieth thirtieth",
  days: `
    twenty-first twenty-second twenty-third twenty-fourth twenty-fifth twenty-sixth twenty-seventh
    twenty-eighth twenty-ninth thirty-first
  `,
  months: `
    january february march april may june july august september october november december
  `,
  dateJoints: "of the",
  doublers: "double triple",
  numberJoints: "and",
  listJoints: "and then also plus the",
  numberUnits: `
    million point dot oclock dollar dollars cent cents euro euros pound pounds pence percent
  `,
  addressMarks: "at dot point dash hyphen underscore slash plus hash star",
  leadIns: `
    it's it is that's that yes yeah sure okay ok so well my number code name the capital big small
    lowercase uppercase
  `,
  spellingNames: `
    alpha alfa bravo charlie delta echo foxtrot golf hotel india juliet juliett kilo lima mike november
    oscar papa quebec romeo sierra tango uniform victor whiskey xray yankee zulu
  `,
  refusals: `
    have can will no not don't dont none nothing why what who how sorry wait moment yes sure okay ok
    thanks let check look same skip later hold rather already before
  `,
  acceptances: "yes yeah yep sure okay ok",
  acceptanceFillers:
    "please, thanks, thank you, of course, put them through, put him through, put her through, i will, i'll take it, go ahead",
  declines: "no nope not dont cant",
  answering: {
    asksName:
      /(?:your|a) (?:full |first |last )?name\b|who(?:['’]s| is| am i| are you| this is| you are)\b|identify yourself/iu,
    asksReason:
      /\b(?:reasons?|purpose|nature) (?:for|of|behind|you)\b|\bwhy (?:you|are you)|\bwhat (?:it|this|your call|the call|that)(?:['’]s| is)(?: \w+)? (?:about|regarding|for|concerning)|what (?:are you|you(?:['’]re| are)) calling|\b(?:is|are|she['’]s|he['’]s|they['’]re) (?:available|free)\b|\bscreen(?:s|ed|ing)\b|\b(?:connect|put|patch) (?:you|your call|the call)\b|take (?:your|the|this) call\b|before (?:i|we) (?:connect|transfer|put)/iu,
    asksToWait:
      /stay on the line|hold (?:on|the line|while)|please (?:hold|wait)|one moment|bear with|(?:checking|see|find out) (?:if|whether)|(?:trying to|will try to|i['’]ll try to|let me try to) (?:reach|connect|get)|hang on/iu,
    takesMessage:
      /voice ?mail|mailbox|\bmessage|\bbeep\b|call (?:you|u) back|back to you|return your call|(?:n['’]t|not|un|un-) ?available|(?:can['’]?t|cannot|unable to|not able to) (?:take|come|answer|get)|missed your call|leave (?:your|a|me|us)/iu,
    screeningAnswer:
      "This is {agent}, calling from {organization}. Could you put me through, please?",
  },
  stockPhrases: {
    apology: "I am sorry, I could not answer that just now.",
    waiting: ["One moment.", "I am still working on it."],
    stillThere: "Are you still there?",
    callerIdleGoodbye: "I cannot hear you, so I will hang up now. Goodbye.",
    notRecognized: "Sorry, I did not catch that.",
    timeIsUp: "I am sorry, the time for this call is over. Goodbye.",
    sttFailedApology: "I am sorry, I cannot hear you any more. Please call again.",
    cannotHearAtAll: "I am sorry, I cannot hear you. Please call again.",
    interrupted: "I am sorry, the line was interrupted. Where were we?",
    transferring: "One moment please, I will put you through.",
    cannotTransfer: "I am sorry, I could not put you through. Is there anything else I can do?",
    lineBusy:
      "I am sorry, the line is busy, so I could not put you through. Is there anything else I can do?",
    noAnswer: "I am sorry, nobody answered there. Is there anything else I can do?",
    suspended: "I am sorry, this service has been suspended, so I have to end the call. Goodbye.",
    callEndedByOrganization: "I am sorry, I have to end the call now. Goodbye.",
    briefingGreeting: "A caller would like to speak to you.",
    briefingQuestion: "Press 1 or say yes to take the call. Press 2 to decline.",
  },
};
