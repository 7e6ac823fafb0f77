/** Rate limits too high to be reached. Requests are still counted. */
export const unlimited = {
  RATE_SIGN_IN: '1000000/60',
  RATE_MAIL: '1000000/60',
  RATE_PROBE: '1000000/60',
  RATE_WRITE: '1000000/60',
  RATE_READ: '100000000/60',
};
