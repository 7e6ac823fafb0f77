/** Tests and benchmarks call more often than anybody does; counted they are all the same. */
export const unlimited = {
  RATE_SIGN_IN: '1000000/60',
  RATE_MAIL: '1000000/60',
  RATE_PROBE: '1000000/60',
  RATE_WRITE: '1000000/60',
  RATE_READ: '100000000/60',
};
