import { paged } from '../common/common.ts';
import { get, onRoot, post } from '../endpoint.ts';
import { AuditDetail, AuditQuery, AuditRow } from './audit.ts';

export const audit = onRoot('audit', {
  search: post('auditLogs', { can: 'audit:read', body: AuditQuery, reply: paged(AuditRow) }),
  get:    get('auditLog/:reqID', { can: 'audit:read', reply: AuditDetail, fails: ['NOT_FOUND'] }),
});
