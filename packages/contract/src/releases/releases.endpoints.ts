import * as z from 'zod';
import { get, onRoot } from '../endpoint.ts';

const From = z.object({
  from: z.coerce.number().int().min(0).max(1e10).default(0).describe('How many bytes of it the node has already'),
});

/** For nodes with an upgrade order. Authorized by the order's token. */
export const nodeReleases = onRoot('nodeReleases', {
  archive: get('node/release/:sha256', { can: 'anyone', params: { sha256: z.string().max(64) }, query: From, answers: 'application/gzip', fails: ['INVALID_TOKEN'] }),
});
