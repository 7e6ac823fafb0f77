import { get, onClient } from '../endpoint.ts';
import { License } from './licenses.ts';

export const licenses = onClient('licenses', {
  own: get('license', { can: 'license:read', reply: License }),
});
