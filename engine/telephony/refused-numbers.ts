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
 * The same for further countries, by calling code: what libphonenumber's metadata (libphonenumber-js 1.13.16) has as
 * premium rate, and as no other kind of number of that code.
 */
const PREMIUM_BY_CODE: readonly (readonly [code: string, beginnings: string])[] = [
  ["7", "803 809"],
  ["20", "90"],
  ["27", "862 863 864 865 866 867 868 869 90 91 92"],
  ["30", "90"],
  ["36", "90 91"],
  ["40", "90"],
  ["51", "805"],
  ["52", "90"],
  ["54", "60"],
  ["55", "50 90"],
  ["57", "19 90"],
  ["58", "90"],
  ["62", "809"],
  ["65", "19"],
  ["81", "990"],
  ["82", "60"],
  ["84", "190"],
  ["86", "160 168"],
  ["90", "88 89 90"],
  ["91", "1861"],
  ["92", "90"],
  ["212", "89"],
  ["213", "803 804 805 806 808 809"],
  ["216", "88"],
  ["221", "88"],
  ["227", "09"],
  ["230", "30"],
  ["231", "332"],
  ["236", "87"],
  ["240", "90"],
  ["242", "80"],
  ["248", "85"],
  ["250", "90"],
  ["254", "90"],
  ["255", "90"],
  ["256", "90"],
  ["262", "891 892 893 897 898 899"],
  ["264", "87"],
  ["267", "90"],
  ["268", "90"],
  ["269", "80 81 82 83 84 85 86 87 88 89"],
  ["297", "90"],
  ["298", "90"],
  ["352", "900 901 905"],
  ["354", "90"],
  ["355", "90"],
  ["356", "500 506 507 509 51 52"],
  ["357", "90"],
  ["358", "600 700"],
  ["359", "90"],
  ["370", "900 902 903 909 91"],
  ["371", "90"],
  ["372", "40 90"],
  ["373", "90"],
  ["374", "90"],
  ["375", "81 90"],
  [
    "376",
    "10 11 12 13 14 15 16 17 1801 1803 1804 1805 1806 1807 1808 1809 181 182 183 184 185 186 187 188 189 19 90 91 92 93 94 95 96 97 98 99",
  ],
  ["378", "71 77 78"],
  ["380", "90"],
  ["381", "78 90"],
  ["382", "94 95"],
  ["383", "90"],
  ["385", "60 61 64 65 69"],
  ["386", "89 90"],
  ["387", "90 92 94 96"],
  ["389", "50 51 52 53 54 55 56 57 58 59"],
  ["420", "90 976"],
  ["421", "900 97 98"],
  ["423", "90"],
  ["502", "19"],
  ["503", "90"],
  ["506", "90"],
  ["507", "822 855 86 877 878 886 900 981"],
  ["590", "81 82 89"],
  ["592", "90"],
  ["594", "81 82 89"],
  ["596", "81 82 89"],
  ["597", "90"],
  ["598", "90"],
  ["670", "90"],
  ["687", "36"],
  ["852", "900"],
  ["886", "20"],
  ["962", "90 91 92 93 94 95 96 97 98 99"],
  ["966", "925"],
  ["968", "900"],
  ["971", "90"],
  ["972", "120 121 19"],
  ["973", "87 90 91 92 93 94 95 96 97 98"],
  ["994", "90"],
];

const ALL_PREMIUM_BEGINNINGS: readonly string[] = [
  ...PREMIUM_BEGINNINGS,
  ...PREMIUM_BY_CODE.flatMap(([code, beginnings]) =>
    beginnings.split(" ").map((beginning) => `${code}${beginning}`),
  ),
];

/**
 * Codes that the ITU has assigned to no country (its list of E.164 country codes): Inmarsat's, the mobile satellite systems', and
 * the international networks', many of which are of satellites, ships and aeroplanes. A minute costs some dollars.
 */
const SATELLITE_BEGINNINGS: readonly string[] = ["870", "881", "882", "883"];

/** In each area of North America the exchange 976 is one of information services (NANPA's list of special codes). */
const PREMIUM_EXCHANGE = /^1[2-9]\d\d976\d{4}$/;

/** Ireland's 151x, 15x0 and 159x, and six digits. Dublin's numbers begin with the same digits, and are two digits shorter. */
const PREMIUM_IRELAND = /^35315(?:1[2-8]|[2-9]0|9[89])\d{6}/;

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
    ALL_PREMIUM_BEGINNINGS.some((beginning) => number.startsWith(beginning)) ||
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
