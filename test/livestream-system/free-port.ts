export { freePorts } from "../../bench/livestream/free-ports.js";
