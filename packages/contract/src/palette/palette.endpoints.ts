import { get, onEvery } from '../endpoint.ts';
import { Found, SearchInput } from './palette.ts';

/** The search of the command palette, over all kinds at once. */
export const palette = onEvery('palette', {
  search: get('search', { can: 'signedIn', query: SearchInput, reply: Found }),
});
