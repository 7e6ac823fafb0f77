import { get, onEvery } from '../endpoint.ts';
import { Found, SearchInput } from './palette.ts';

/** What the command palette finds while somebody types: every kind of thing in one answer. */
export const palette = onEvery('palette', {
  search: get('search', { can: 'signedIn', query: SearchInput, reply: Found }),
});
