import type { Received } from '@edgeloom/contract/endpoint.ts';
import type { logs } from '@edgeloom/contract/logs/logs.endpoints.ts';
import type { Tone } from '../../theme/tokens.ts';

export type LogRow = Received<typeof logs.access>['data'][number];

const CLOSED = 444;

/** Tones of status families; 444 is a connection that the node closed. */
export function toneOfStatus(status: number): Tone {
  if (status === CLOSED) return 'off';
  const tones: Readonly<Record<number, Tone>> = { 2: 'ok', 3: 'busy', 4: 'warn', 5: 'bad', 9: 'held' };
  return tones[Math.floor(status / 100)] ?? 'unknown';
}

export type Decision = 'refused' | 'redirected' | 'monitored';
/** The effect of the row's cause on the request. Null without a cause. */
export function decisionOf({ cause, status }: Pick<LogRow, 'cause' | 'status'>): Decision | null {
  if (cause === '') return null;
  // A challenge and a refusal may have any status from 400. A rule that only monitors does not change the status.
  // 499: the visitor left.
  if (status >= 400 && status !== 499) return 'refused';
  return status >= 300 && status < 400 ? 'redirected' : 'monitored';
}

const MONITOR_PREFIX = /^monitor\//;
/** The ID of the WAF rule that refused the request, or would have. */
export const wafRuleID = (rule: string) => rule.replace(MONITOR_PREFIX, '');

/** The page of the site on which the cause's rules are edited. */
export const viewOfCause: Readonly<Record<string, string>> = {
  antiReferer: 'hotlink',
  antiHeader: 'hotlink',
  tokenAuth: 'tokens',
  urlRedirect: 'redirects',
  frequency: 'limits',
  limitReq: 'limits',
  limitConn: 'limits',
  antiCC: 'challenges',
  crawlers: 'crawlers',
  acl: 'access',
  luaAcl: 'scripts',
  waf: 'waf',
};
