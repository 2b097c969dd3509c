// The screens that are not needed to search and read: one file, fetched when one of them is opened.
export { Health } from "./health/screen";
export { Inbox } from "./inbox/screen";
export { Settings } from "./settings/screen";
export { Timeline } from "./timeline/screen";
