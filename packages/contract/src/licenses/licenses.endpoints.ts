import { get, onAdmin, onClient } from '../endpoint.ts';
import { License } from './licenses.ts';

export const licenses = onClient('licenses', {
  own: get('license', { can: 'license:read', reply: License }),
});

export const operatorLicenses = onAdmin('licenses', {
  get: get('license/:accountId', { can: 'license:read', reply: License }),
});
