import { Ids, paged } from '../common/common.ts';
import { del, get, onSites, post } from '../endpoint.ts';
import { LogExport, LogExportInput, LogExportQuery } from './log-exports.ts';

export const logExports = onSites('logExports', {
  create: post('log/export/file', { can: 'log:write', body: LogExportInput, reply: LogExport, fails: ['EXPORTS_AT_ONCE', 'EXPORTS_A_DAY', 'LIMIT_REACHED'] }),
  list:   get('log/exports', { can: 'log:read', query: LogExportQuery, reply: paged(LogExport) }),
  remove: del('log/exports', { can: 'log:write', body: Ids, reply: Ids }),
  get:    get('log/export/:id', { can: 'log:read', reply: LogExport }),
  file:   get('log/export/file/:id', { can: 'log:read', answers: 'application/gzip', fails: ['NOT_FOUND'] }),
  retry:  post('log/export/file/retry', { can: 'log:write', body: Ids, reply: Ids, fails: ['EXPORTS_AT_ONCE', 'BUSY'] }),
});
