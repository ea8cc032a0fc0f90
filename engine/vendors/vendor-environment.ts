import * as v from "valibot";
import { httpUrl, webSocketUrl } from "../settings.js";
import { HTTP_PROTOCOLS } from "./setting-fields.js";
import { VENDORS } from "./vendors.js";

/** By vendor key: the platform's own keys, and the addresses of its own providers. */
export type VendorKeys = Readonly<Record<string, string | undefined>>;
export type VendorUrls = Readonly<Record<string, string | undefined>>;

/** The environment variables of the vendors. */
export const VENDOR_VARIABLES: v.ObjectEntries = Object.fromEntries(
  VENDORS.flatMap(({ apiKey, address }) => {
    const url = address.protocols === HTTP_PROTOCOLS ? httpUrl : webSocketUrl;
    return [
      ...(apiKey.variable === undefined ? [] : [[apiKey.variable, v.optional(v.string())]]),
      ...(address.variable === undefined
        ? []
        : [[address.variable, v.optional(url, address.publicUrl)]]),
    ];
  }),
);

/** Takes the variables as parsed by `VENDOR_VARIABLES`. */
export function vendorSettings(read: Readonly<Record<string, unknown>>): {
  readonly vendorKeys: VendorKeys;
  readonly vendorUrls: VendorUrls;
} {
  const value = (variable: string | undefined): string | undefined => {
    const found = variable === undefined ? undefined : read[variable];
    return typeof found === "string" ? found : undefined;
  };
  const of = (variableOf: (vendor: (typeof VENDORS)[number]) => string | undefined) =>
    Object.fromEntries(
      VENDORS.filter((each) => variableOf(each) !== undefined).map((each) => [
        each.key,
        value(variableOf(each)),
      ]),
    );
  return {
    vendorKeys: of(({ apiKey }) => apiKey.variable),
    vendorUrls: of(({ address }) => address.variable),
  };
}

/** Whether the text is `vendor/model`, of a vendor that has embeddings. */
export function isEmbeddingModel(text: string): boolean {
  const slashAt = text.indexOf("/");
  const vendor = VENDORS.find(({ key }) => key === text.slice(0, slashAt));
  return vendor?.embeddings !== undefined && slashAt < text.length - 1;
}
