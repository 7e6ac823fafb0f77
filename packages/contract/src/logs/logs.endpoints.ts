import { get, onSites, post } from '../endpoint.ts';
import * as z from 'zod';
import { LogPage, LogQuery, LogRow } from './logs.ts';

const reqID = z.string().regex(/^[0-9a-f]{32}$/);
export const logs = onSites('logs', {
  access:  post('logs/access', { can: 'log:read', body: LogQuery, reply: LogPage }),
  request: get('logs/request/:reqID', { can: 'log:read', params: { reqID }, reply: LogRow, fails: ['NOT_FOUND'] }),
});
