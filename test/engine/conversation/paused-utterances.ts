/** One thing that a caller says: what the agent said before, the words, and the silences between them in ms. */
export interface Utterance {
  readonly asked: string;
  readonly said: readonly (string | number)[];
  /** 1 is a usual pace. */
  readonly speed?: number;
}

export const UTTERANCES: Readonly<Record<string, readonly Utterance[]>> = {
  "dictated numbers": [
    { asked: "Your card number, please?", said: ["four two four two,", 900, "four two four two."] },
    {
      asked: "Your telephone number?",
      said: ["five five five", 500, "zero one", 500, "seven nine."],
    },
    { asked: "What is the order number?", said: ["it is", 700, "eight eight one", 550, "four."] },
    { asked: "And the post code?", said: ["one zero", 450, "one one seven."] },
    { asked: "Your account?", said: ["three three,", 1_200, "nine nine,", 1_200, "one."] },
  ],
  "thinking aloud": [
    { asked: "How can I help you?", said: ["my number is, uhm", 1_300, "four two one."] },
    { asked: "How can I help you?", said: ["I would like to", 800, "change my booking."] },
    { asked: "Which day?", said: ["on Tuesday", 400, "or no Wednesday."] },
    { asked: "Where to?", said: ["to the station", 450, "the one in the north."] },
    { asked: "What is wrong?", said: ["the washing machine", 500, "does not start any more."] },
    { asked: "Anything else?", said: ["yes I need the", 900, "invoice from May."] },
    { asked: "Which size?", said: ["a medium", 350, "in dark blue please."] },
    { asked: "When did it begin?", said: ["it began", 300, "last week", 300, "after the storm."] },
  ],
  "long pauses": [
    { asked: "Which day?", said: ["on Tuesday", 750, "or no Wednesday."] },
    { asked: "What is wrong?", said: ["the heating", 800, "is cold since Sunday."] },
    { asked: "", said: ["I have a question.", 500, "are you open today?"] },
  ],
  "two short questions": [
    { asked: "How can I help you?", said: ["are you open today", 350, "and until when?"] },
    {
      asked: "How can I help you?",
      said: ["what does it cost", 450, "and how long does it take?"],
    },
    { asked: "Anything else?", said: ["do you deliver", 300, "to the islands too?"] },
  ],
  "fast speakers": [
    { asked: "", said: ["hi I have a question", 250, "about my last bill."], speed: 1.6 },
    { asked: "", said: ["can I come", 250, "at ten tomorrow?"], speed: 1.6 },
    { asked: "", said: ["it is broken again", 300, "for the third time."], speed: 1.6 },
  ],
  "without a pause": [
    { asked: "How can I help you?", said: ["where is my order?"] },
    { asked: "Which day?", said: ["next Friday."] },
    { asked: "Shall I book it?", said: ["yes please."] },
    { asked: "Anything else?", said: ["that would be all"] },
    { asked: "Your name?", said: ["Ada Lovelace."] },
    { asked: "", said: ["can you tell me the way to the museum?"] },
  ],
};
