import { paged, paging } from '../common/common.ts';
import { get, onAdmin, onClient } from '../endpoint.ts';
import { License, OperatorLicense } from './licenses.ts';

export const licenses = onClient('licenses', {
  own: get('license', { can: 'license:read', reply: License }),
});

export const operatorLicenses = onAdmin('licenses', {
  list: get('license', { can: 'license:read', query: paging(['endsAt', 'clientName'], 10), reply: paged(OperatorLicense) }),
  get:  get('license/:accountId', { can: 'license:read', reply: License }),
});
