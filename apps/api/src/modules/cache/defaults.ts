// The cache setting of a site before its owner changes it.

/** For a site without a row, created before FOR_NEW_SITES existed. */
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
/** For new sites. */
export const FOR_NEW_SITES = { heuristics: true };
