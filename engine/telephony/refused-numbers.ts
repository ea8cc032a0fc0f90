import { isSipAddress } from "./call-instructions.js";

/** Why no agent calls a number or transfers a caller to it, whatever the operator has allowed. */
export type NumberRefusal = "emergency" | "premium" | "satellite";

/** Emergency numbers that telephones dial without a country's code; others are extensions of many a company's exchange. */
const DIALED_EMERGENCY = new Set(["000", "112", "911", "999"]);
/** Emergency numbers of any country, behind its code. */
const EMERGENCY = new Set([
  "000",
  "111",
  "100",
  "101",
  "102",
  "103",
  "104",
  "106",
  "108",
  "110",
  "112",
  "113",
  "114",
  "115",
  "116",
  "117",
  "118",
  "119",
  "120",
  "122",
  "123",
  "144",
  "155",
  "158",
  "190",
  "191",
  "192",
  "193",
  "911",
  "933",
  "988",
  "997",
  "998",
  "999",
]);
/** France's have two digits. */
const EMERGENCY_OF_TWO = new Set(["3315", "3317", "3318"]);
const COUNTRY_CODE_LENGTH_MAX = 3;

/**
 * What premium-rate numbers begin with, in E.164, by the country's plan of numbers. No ordinary number begins like that: an
 * area code such as Ghent's 9, Auckland's 9 or Umeå's 90 has no number behind it that begins with a zero.
 */
const PREMIUM_BEGINNINGS: readonly string[] = [
  // The United States, Canada and the others of their plan.
  "1900",
  // The United Kingdom: 09, personal numbers, and the dearer half of 087 (Ofcom's National Telephone Numbering Plan).
  "449",
  "4470",
  "44871",
  "44872",
  "44873",
  // Germany: 0900, televoting, directory services.
  "49900",
  "49137",
  "49118",
  // France: 089.
  "3389",
  // Spain.
  "34803",
  "34806",
  "34807",
  "34905",
  // Italy; its numbers keep their zeros, and these have none.
  "39144",
  "39166",
  "39892",
  "39899",
  // The Netherlands, Belgium, Switzerland, Austria.
  "31900",
  "31906",
  "31909",
  "3290",
  "41900",
  "41901",
  "41906",
  "43900",
  "43901",
  "43930",
  "43931",
  "43939",
  // Poland, Portugal.
  "4870",
  "351760",
  "351761",
  // Sweden, Norway, Denmark.
  "46900",
  "46939",
  "46944",
  "47820",
  "47829",
  "4590",
  // Australia and New Zealand.
  "61190",
  "64900",
  // The international premium-rate service of the ITU.
  "979",
];

/**
 * Codes that the ITU has assigned to no country (its list of E.164 country codes): Inmarsat's, the mobile satellite systems', and
 * the international networks', many of which are of satellites, ships and aeroplanes. A minute costs some dollars.
 */
const SATELLITE_BEGINNINGS: readonly string[] = ["870", "881", "882", "883"];

/** In each area of North America the exchange 976 is one of information services (NANPA's list of special codes). */
const PREMIUM_EXCHANGE = /^1[2-9]\d\d976\d{4}$/;

/** Ireland's 15x0 and six digits. Dublin's numbers begin with the same digits, and are two digits shorter. */
const PREMIUM_IRELAND = /^35315[2-9]0\d{6}/;

/**
 * Undefined for a target that may be called. `target`: E.164, or a SIP address, whose user part counts as it is dialed.
 */
export function numberRefusal(target: string): NumberRefusal | undefined {
  const user = isSipAddress(target) ? (/^sips?:([^@;?]*)/i.exec(target)?.[1] ?? "") : target;
  const isInternational = user.startsWith("+");
  const digits = user.replace(/[^\d]/g, "");
  // A SIP user is often a name, or an extension with letters.
  if (digits === "" || /[a-z]/i.test(user)) return undefined;
  if (isEmergency(digits, isInternational)) return "emergency";
  const number = isInternational ? digits : digits.replace(/^(?:00|011)/, "");
  const isPremium =
    PREMIUM_BEGINNINGS.some((beginning) => number.startsWith(beginning)) ||
    PREMIUM_IRELAND.test(number) ||
    PREMIUM_EXCHANGE.test(number);
  const isWhole = isInternational || number !== digits;
  if (!isWhole) return undefined;
  if (SATELLITE_BEGINNINGS.some((beginning) => number.startsWith(beginning))) return "satellite";
  return isPremium ? "premium" : undefined;
}

function isEmergency(digits: string, isInternational: boolean): boolean {
  if (DIALED_EMERGENCY.has(digits)) return true;
  if (!isInternational) return false;
  if (EMERGENCY_OF_TWO.has(digits)) return true;
  const codes = Array.from({ length: COUNTRY_CODE_LENGTH_MAX }, (_, index) => index + 1);
  return codes.some(
    (length) => digits.length === length + 3 && EMERGENCY.has(digits.slice(length)),
  );
}
