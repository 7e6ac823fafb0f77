/** What a program of ours is started with besides its own settings: nothing that whoever runs the tests has set for himself. */
export const bareEnv = {
  PATH: process.env['PATH'],
  NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
};
