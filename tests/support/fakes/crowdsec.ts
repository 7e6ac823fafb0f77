// The decisions stream of CrowdSec's Local API (LAPI), for bouncers with a key.
import { startOrigin, type OriginRequest, type OriginResponse } from './origin.ts';

interface Decision {
  value: string;
  until: Date;
  type?: string;
  scope?: string;
}

/** `key`: of the only bouncer. */
export async function startCrowdsec(key: string) {
  let decisions: Decision[] = [];
  let expired: Decision[] = [];
  let clockOffsetMs = 0;
  const durationOf = (until: Date) => goDuration(until.getTime() - Date.now() - clockOffsetMs);
  function answer({ url, headers }: OriginRequest): OriginResponse {
    if (headers['x-api-key'] !== key) return json(403, { message: 'access forbidden' });
    if (url !== '/v1/decisions/stream?startup=true') return json(404, { message: 'not found' });
    return json(200, { deleted: listed(expired), new: listed(decisions) });
  }
  const listed = (all: Decision[]) =>
    all.length === 0
      ? null
      : all.map(({ value, until, type = 'ban', scope }, id) => ({
          id,
          origin: 'cscli',
          scenario: 'manual',
          duration: durationOf(until),
          scope: scope ?? (value.includes('/') ? 'Range' : 'Ip'),
          type,
          value,
        }));
  const origin = await startOrigin({ any: answer });
  return {
    url: `http://127.0.0.1:${origin.port}`,
    requests: origin.requests,
    /** Replaces all decisions. */
    decide(next: Decision[]) {
      decisions = next;
    },
    /** Replaces the decisions that have ended, which LAPI lists as well. */
    expire(next: Decision[]) {
      expired = next;
    },
    setClockOffset(ms: number) {
      clockOffsetMs = ms;
    },
    stop: () => origin.stop(),
  };
}

const json = (status: number, body: object): OriginResponse => ({
  status,
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify(body),
});

/** As Go's time.Duration, rounded to seconds. */
function goDuration(ms: number): string {
  const seconds = Math.round(Math.abs(ms) / 1000);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const parts = [hours > 0 && `${hours}h`, (hours > 0 || minutes > 0) && `${minutes}m`, `${seconds % 60}s`];
  return `${ms < 0 ? '-' : ''}${parts.filter(Boolean).join('')}`;
}
