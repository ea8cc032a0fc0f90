/** The version of this program, which a test holds to that in package.json. */
export const VERSION = "0.1.0";
