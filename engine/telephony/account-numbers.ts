/** More numbers of one account are not listed. */
export const ACCOUNT_NUMBERS_MAX = 1_000;
/** One page of a list of numbers has at most a hundred of some 2 kB. */
export const NUMBERS_PAGE_MAX_BYTES = 512 * 1024;

/** A number as the account at the vendor has it. */
export interface AccountNumber {
  /** E.164. */
  readonly number: string;
  /** The vendor's id of the number, which may be the number itself. */
  readonly ref: string;
  /** What the account's owner calls it; empty where the vendor has no such name. */
  readonly label: string;
  /** Where the vendor asks about calls to it; undefined where the list does not say. */
  readonly webhookUrl: string | undefined;
}

/** The numbers of one account. Both promises reject with a VendorError. */
export interface AccountNumbersApi {
  /** ACCOUNT_NUMBERS_MAX at most. */
  list(): Promise<readonly AccountNumber[]>;
  /** From now on the vendor asks there about calls to the number. */
  setWebhook(number: AccountNumber, url: string): Promise<void>;
}

const E164 = /^\+[1-9]\d{6,14}$/;

/** In E.164, whether or not the vendor writes the plus; undefined for short codes and the like. */
export function accountNumber(written: string): string | undefined {
  const number = `+${written.replace(/^\+/, "")}`;
  return E164.test(number) ? number : undefined;
}

/** One page of the vendor's list. */
export interface AccountNumbersPage {
  readonly numbers: readonly AccountNumber[];
  readonly isLast: boolean;
}

/** Reads the pages of a list until there is none left or ACCOUNT_NUMBERS_MAX are read. */
export async function readPages(
  page: (index: number) => Promise<AccountNumbersPage>,
): Promise<readonly AccountNumber[]> {
  const all: AccountNumber[] = [];
  for (let index = 0; all.length < ACCOUNT_NUMBERS_MAX; index += 1) {
    const { numbers, isLast } = await page(index);
    all.push(...numbers);
    // A page without a number would be asked for again and again by a list that never ends.
    if (isLast || numbers.length === 0) break;
  }
  return all.slice(0, ACCOUNT_NUMBERS_MAX);
}
