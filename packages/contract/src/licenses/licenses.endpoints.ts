import { Ids, paged, paging } from '../common/common.ts';
import { del, get, onAdmin, onClient, post, put } from '../endpoint.ts';
import * as l from './licenses.ts';

const can = 'license:read';
const write = 'license:write';

export const licenses = onClient('licenses', {
  own: get('license', { can, reply: l.License }),
});

export const licenseOffers = onAdmin('licenseOffers', {
  list:   get('license/offers', { can, query: paging(['name', 'days', 'createdAt'], 10), reply: paged(l.LicenseOffer) }),
  create: post('license', { can: write, body: l.LicenseOfferInput, reply: l.LicenseOffer, fails: ['DUPLICATED'] }),
  update: put('license', { can: write, body: l.LicenseOfferUpdate, reply: l.LicenseOffer, fails: ['DUPLICATED', 'ILLEGAL_PORT_TYPE'] }),
  /** Licenses that were issued stay. */
  remove: del('license', { can: write, body: Ids, reply: Ids }),
  /** Gives an operator these terms, and adds the days to what is left of its license. */
  issue:  post('license/issuing', { can: write, body: l.LicenseIssuing, reply: l.License, fails: ['LICENSE_NOT_FOUND', 'ILLEGAL_PORT_TYPE'] }),
});

export const operatorLicenses = onAdmin('licenses', {
  list:   get('license', { can, query: paging(['endsAt', 'clientName'], 10), reply: paged(l.OperatorLicense) }),
  get:    get('license/:userId', { can, reply: l.License }),
  orders: get('license/:userId/order', { can, query: paging(['createdAt'], 10), reply: paged(l.LicenseOrder) }),
  update: put('license/:userId/order', { can: write, body: l.LicenseSettingUpdate, reply: l.License, fails: ['LICENSE_NOT_FOUND'] }),
});
