// False positives of each paranoia level in the newest cross-validation (model/card.md, "requests benign").

/** Shares of ordinary requests that the levels 1 to 4 refused. */
export const refusedOrdinary: readonly number[] = [0.0009, 0.0017, 0.0028, 0.0049];
/** Number of these requests. */
export const ORDINARY_REQUESTS = 16_619;
