/** A minimal environment for child processes, without the developer's own settings. */
export const minimalEnv = {
  PATH: process.env['PATH'],
  TMPDIR: process.env['TMPDIR'],
  NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
};
