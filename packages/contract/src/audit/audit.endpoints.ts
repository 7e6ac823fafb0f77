import { paged } from '../common/common.ts';
import { get, onRoot, post } from '../endpoint.ts';
import { AuditDetail, AuditDetailQuery, AuditEntry, AuditQuery } from './audit.ts';

export const audit = onRoot('audit', {
  search: post('auditLogs', { can: 'audit:read', body: AuditQuery, reply: paged(AuditEntry) }),
  get:    get('auditLog/:reqID', { can: 'audit:read', query: AuditDetailQuery, reply: AuditDetail, fails: ['NOT_FOUND'] }),
});
