import * as z from 'zod';
import { get, onRoot } from '../endpoint.ts';

const Word = z.string().max(64);
const Machine = z.object({
  system: Word.describe('ID of /etc/os-release'),
  version: Word.describe('VERSION_ID of it'),
  arch: Word.describe('As uname -m says'),
  node: Word.default('').describe('Which node it is already'),
});

/** For machines that join by a pasted command. Authorized by the join token. */
export const nodeSetup = onRoot('nodeSetup', {
  script:   get('node/install.sh', { can: 'anyone', answers: 'text/plain' }),
  setup:    get('node/setup', { can: 'anyone', query: Machine, answers: 'text/plain', fails: ['INVALID_TOKEN'] }),
  artifact: get('node/artifact/:name', { can: 'anyone', params: { name: z.string().max(256) }, answers: 'application/gzip', fails: ['INVALID_TOKEN'] }),
});
