// What a site's cache setting is before its owner changes it.

/** What holds for a site without a row: one that is older than FOR_NEW_SITES. */
export const WITHOUT_ROW = {
  heuristics: false,
  staleIfError: 3600,
  shield: false,
  checkContentType: true,
  passHeaders: [],
  setCookie: 'refuse',
  honourVisitors: false,
  storePost: false,
};
/** What a new site begins with. */
export const FOR_NEW_SITES = { heuristics: true };
