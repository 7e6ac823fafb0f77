import * as z from 'zod';
import { Id, Ids, paged, paging } from '../common/common.ts';
import { del, get, onAdmin, onRoot, post, put } from '../endpoint.ts';
import * as l from './offline-licenses.ts';

const can = 'license:read';
const write = 'license:write';

export const offlineLicenses = onAdmin('offlineLicenses', {
  list:   get('license/offlines', { can, query: paging(['name', 'endsAt', 'createdAt'], 10), reply: paged(l.OfflineLicense) }),
  create: post('license/offline', { can: write, body: l.OfflineLicenseInput, reply: l.OfflineLicense, fails: ['DUPLICATED'] }),
  update: put('license/offline', { can: write, body: l.OfflineLicenseUpdate, reply: l.OfflineLicense, fails: ['DUPLICATED', 'ILLEGAL_PORT_TYPE'] }),
  /** Only licenses without a machine can be removed. */
  remove: del('license/offline', { can: write, body: Ids, reply: Ids, fails: ['STILL_IN_USE'] }),
  issue:  post('license/offline/issuing', { can: write, body: l.OfflineIssuing, reply: l.IssuedFile, fails: ['LICENSE_NOT_FOUND', 'STILL_IN_USE', 'LICENSE_EXPIRED', 'INVALID_LICENSE_SERVER'] }),
  /** The license can then be issued for another machine. The file on the former one stays valid until its end. */
  free:   del('license/offline/register', { can: write, body: z.object({ id: Id }), reply: l.OfflineLicense, fails: ['LICENSE_NOT_FOUND'] }),
});

export const installationLicense = onRoot('installationLicense', {
  get:  get('offline/license', { can, only: 'admin', reply: l.InstallationLicense }),
  load: put('offline/license', { can: write, only: 'admin', body: l.LicenseLoad, reply: l.InstallationLicense, fails: ['ILLEGAL_LICENSE', 'LICENSE_NOT_FOUND', 'LICENSE_EXPIRED', 'DUPLICATE_KEYS', 'INVALID_LICENSE_SERVER'] }),
});
