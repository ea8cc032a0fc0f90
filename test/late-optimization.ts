import { setFlagsFromString } from "node:v8";

/**
 * Has V8 optimize what is executed twenty times as often as it would: most of what tests execute is over before that pays, and
 * compiling it takes an eighth of their CPU. Newer versions have no such option.
 */
const OPTION = "--interrupt-budget=1500000";
const LAST_VERSION_WITH_OPTION = 20;

const [major = ""] = process.versions.node.split(".");
if (Number(major) <= LAST_VERSION_WITH_OPTION) setFlagsFromString(OPTION);
