import { MAIL_BYTES_MAX } from "../../storage/nodes/mail.js";

/** As few letters as hold all of the items, under `name` behind what all of them begin with. */
export function letterParts(
  head: string,
  name: string,
  items: readonly unknown[],
): readonly string[] {
  const lists: string[][] = [];
  let bytesLeft = 0;
  for (const item of items) {
    const json = JSON.stringify(item);
    const bytes = Buffer.byteLength(json) + 1;
    if (bytes > bytesLeft) {
      lists.push([]);
      bytesLeft = roomIn(head, name);
    }
    lists.at(-1)?.push(json);
    bytesLeft -= bytes;
  }
  return lists.map((list) => `${head},"${name}":[${list.join()}]}`);
}

/** Bytes for what stands in the list, commas among it. */
export function roomIn(head: string, name: string): number {
  return MAIL_BYTES_MAX - Buffer.byteLength(head) - `,"${name}":[]}`.length;
}
