import * as z from 'zod';
import { Id, Ids, MetaQuery, paged, paging } from '../common/common.ts';
import { CertStatus } from '../domains/domains.ts';
import { del, get, onClient, onSites, patch, post, put } from '../endpoint.ts';
import { JobStarted } from '../jobs/jobs.ts';
import { Assigning, AutoCertificate, Certificate, CertificateEvent, CertificateInfo, CertificateInput, CertificateUpdate, Coverage, Covering } from './certificates.ts';

const Filter = { sslName: z.string().max(256).optional().describe('Part of its name, or a name it covers'), status: z.array(CertStatus).optional(), ending: z.boolean().optional().describe('In use, and ended or ending within 14 days') };

export const certificates = onSites('certificates', {
  list:    get('site/:siteId/certificates', { can: 'certificate:read', query: paging(['createdAt', 'sslName', 'expiry', 'updatedAt']).extend(Filter), reply: paged(Certificate) }),
  meta:    get('site/:siteId/metaCertificates', { can: 'certificate:read', query: MetaQuery, reply: paged(z.object({ id: Id, name: z.string(), names: z.array(z.string()) })) }),
  get:     get('site/:siteId/certificate/:certId', { can: 'certificate:read', reply: CertificateInfo }),
  events:  get('site/:siteId/certificate/:certId/events', { can: 'certificate:read', query: paging(['at'], 100), reply: paged(CertificateEvent) }),
  covering: post('site/:siteId/certificates/covering', { can: 'certificate:read', body: Covering, reply: paged(Coverage).extend({ others: z.array(Id).describe('The others that cover some') }).describe('The hundred that cover most') }),
  create:  post('site/:siteId/certificate', { can: 'certificate:write', body: CertificateInput, reply: Certificate, fails: ['INVALID_CERTIFICATE_NAME', 'DUPLICATED', 'LIMIT_REACHED', 'AUTO_SSL_LIMIT', 'AUTO_SSL_OFF', 'LICENSE_EXPIRED'] }),
  update:  put('site/:siteId/certificate/:certId', { can: 'certificate:write', body: CertificateUpdate, reply: Certificate, fails: ['INVALID_CERTIFICATE_NAME', 'DUPLICATED', 'LIMIT_REACHED', 'AUTO_SSL_OFF'] }),
  assign:  patch('site/:siteId/certificate/:certId/domains', { can: 'certificate:write', body: Assigning, reply: Certificate, fails: ['INVALID_CERTIFICATE_NAME'] }),
  remove:  del('site/:siteId/certificates', { can: 'certificate:write', body: Ids, reply: Ids, fails: ['STILL_IN_USE'] }),
  autoSSL: post('site/:siteId/domains/autoSSL', { can: 'certificate:write', body: Ids, reply: JobStarted, fails: ['INVALID_CERTIFICATE_NAME', 'AUTO_SSL_LIMIT', 'AUTO_SSL_OFF', 'LICENSE_EXPIRED'] }),
});

/** Certificates of all sites of an operator. */
export const autoCertificates = onClient('autoCertificates', {
  list:  get('autoCertificates', { can: 'certificate:read', query: paging(['createdAt', 'sslName', 'expiry', 'nextAt', 'updatedAt']).extend({ keyword: z.string().max(256).optional().describe('Part of its name, of a name it covers or of its site'), status: Filter.status, siteID: Id.optional() }), reply: paged(AutoCertificate) }),
  renew: post('autoCertificates/renew', { can: 'certificate:write', body: Ids, reply: z.object({ jobs: z.array(z.object({ siteID: Id, jobID: Id })).describe('One for each site; what is being ordered already goes on and is in none') }) }),
});
