import * as v from "valibot";
import {
  CallList,
  CallListBody,
  CallListProgress,
  CallListRows,
  CallListRowsQuery,
} from "../call-list.js";
import { Success } from "../fields.js";
import type { Route } from "./route.js";
import { created, downloaded, ok, refused } from "./route-answer.js";

const dashboard = { auth: "dashboard", limit: "general", group: "Call lists" } as const;
const otherState = refused(409, "The list is in a state in which that is not possible");

/** Lists of people whom an agent calls. */
export const CALL_LIST_ROUTES = {
  listCallLists: {
    method: "get",
    path: "/api/dashboard/call-lists",
    summary: "List the call lists",
    ...dashboard,
    success: ok("All lists, newest first", v.array(CallList)),
  },
  createCallList: {
    method: "post",
    path: "/api/dashboard/call-lists",
    summary: "Upload a list of people to call",
    ...dashboard,
    body: CallListBody,
    idempotent: true,
    success: created("The list, which waits for its start", CallList),
    others: [
      refused(403, "The organization is pending, or has as many lists as it can"),
      refused(404, "There is no such agent"),
    ],
  },
  getCallList: {
    method: "get",
    path: "/api/dashboard/call-lists/:id",
    summary: "Show a call list and its progress",
    ...dashboard,
    success: ok("The list, with how many people have each outcome", CallListProgress),
  },
  startCallList: {
    method: "post",
    path: "/api/dashboard/call-lists/:id/start",
    summary: "Start calling",
    ...dashboard,
    success: ok("The list, which is running", CallList),
    others: [otherState],
  },
  pauseCallList: {
    method: "post",
    path: "/api/dashboard/call-lists/:id/pause",
    summary: "Place no more calls for now; those in progress go on",
    ...dashboard,
    success: ok("The list, which is paused", CallList),
    others: [otherState],
  },
  resumeCallList: {
    method: "post",
    path: "/api/dashboard/call-lists/:id/resume",
    summary: "Go on calling; a running list that is held tries again at once",
    ...dashboard,
    success: ok("The list, which is running", CallList),
    others: [otherState],
  },
  cancelCallList: {
    method: "post",
    path: "/api/dashboard/call-lists/:id/cancel",
    summary: "Call nobody else; calls in progress go on",
    ...dashboard,
    success: ok("The list, which is cancelled", CallList),
    others: [otherState],
  },
  deleteCallList: {
    method: "delete",
    path: "/api/dashboard/call-lists/:id",
    summary: "Delete a call list that is not in progress",
    ...dashboard,
    success: ok("Deleted; its calls are kept", Success),
    others: [otherState],
  },
  listCallListRows: {
    method: "get",
    path: "/api/dashboard/call-lists/:id/rows",
    summary: "List the people of a call list",
    ...dashboard,
    query: CallListRowsQuery,
    success: ok("People in the order of the list", CallListRows),
  },
  getCallListResults: {
    method: "get",
    path: "/api/dashboard/call-lists/:id/results",
    summary: "Download what became of the people of a call list",
    ...dashboard,
    success: downloaded("One line for each person", "text/csv"),
    others: [refused(416, "The file has none of the bytes that `Range` asks for")],
  },
} as const satisfies Readonly<Record<string, Route>>;
