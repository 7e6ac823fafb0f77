import { get, onSites, post } from '../endpoint.ts';
import * as z from 'zod';
import { LogPage, LogQuery, TailEvent, TailQuery } from './logs.ts';
import { LogDetail } from './trail.ts';
import { SessionPage, SessionQuery } from './sessions.ts';
import { WafLogPage, WafLogQuery } from './waf.ts';

const reqID = z.string().regex(/^[0-9a-f]{32}$/);
export const logs = onSites('logs', {
  access:  post('logs/access', { can: 'log:read', body: LogQuery, reply: LogPage }),
  request: get('logs/request/:reqID', { can: 'log:read', params: { reqID }, reply: LogDetail, fails: ['NOT_FOUND'] }),
  sessions: post('logs/sessions', { can: 'log:read', body: SessionQuery, reply: SessionPage }),
  waf:     post('logs/waf', { can: 'log:read', body: WafLogQuery, reply: WafLogPage }),
  tail:    get('logs/tail', { can: 'log:read', query: TailQuery, reply: TailEvent, answers: 'text/event-stream' }),
});
