import { get, onEvery } from '../endpoint.ts';
import { Attention } from './attention.ts';

/** Counts over all rows that the caller may read. */
export const attention = onEvery('attention', {
  list: get('attention', { can: 'signedIn', reply: Attention }),
});
