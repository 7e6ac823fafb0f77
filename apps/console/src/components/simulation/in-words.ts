// Describes each step of a simulation as a sentence.
import type { Simulation } from '@edgeloom/contract/simulate/simulate.ts';
import { bytes, duration } from '../../lib/format.ts';
import { currentLanguage, tMaybe } from '../../lib/i18n.ts';
import type { Tone } from '../../theme/theme.ts';

type Step = Simulation['steps'][number];

export const nameOf = ({ step }: Pick<Step, 'step'>) => tMaybe(`simulate.names.${step}`) ?? step;

const none = { status: '', target: '', why: '', seconds: '', age: '', ttl: '', address: '', name: '', path: '' };

export function saidOf({ step, decision, detail }: Pick<Step, 'step' | 'decision' | 'detail'>): string {
  const why = detail['why'];
  const rate = detail['rate'];
  const times = ['seconds', 'age', 'ttl'].flatMap((name) => {
    const seconds = detail[name];
    return seconds === undefined ? [] : [[name, duration(Number(seconds), currentLanguage())] as const];
  });
  const values = {
    ...none,
    ...detail,
    ...Object.fromEntries(times),
    ...(rate !== undefined && { rate: bytes(Number(rate) * 1024) }),
    ...(why !== undefined && { why: tMaybe(`simulate.whys.${why}`) ?? why }),
  };
  return (
    tMaybe(`simulate.said.${step}.${decision}`, values) ?? tMaybe(`simulate.decisions.${decision}`, values) ?? decision
  );
}

const tones: Partial<Record<Step['decision'], Tone>> = {
  refused: 'bad',
  closed: 'bad',
  failed: 'warn',
  redirected: 'held',
  unused: 'off',
  noRule: 'off',
  past: 'off',
  notStored: 'off',
  miss: 'off',
  bypass: 'off',
  expired: 'warn',
  stale: 'warn',
  other: 'unknown',
};
export const toneOf = ({ decision }: Pick<Step, 'decision'>): Tone => tones[decision] ?? 'ok';

const views: Readonly<Record<string, string>> = {
  cacheRule: 'cache',
  antiReferer: 'hotlink',
  antiHeader: 'hotlink',
  rate: 'rates',
  redirect: 'redirects',
  errorPage: 'errors',
  upstream: 'domains',
  tokenAuth: 'tokens',
};
const viewsOfModules: Readonly<Record<string, string>> = {
  urlRedirect: 'redirects',
  cors: 'cors',
  corsAnswer: 'cors',
  proxyRewrite: 'rewrite',
  requestHeaders: 'headers',
  responseHeaders: 'headers',
  tokenAuth: 'tokens',
};
/** The page on which the rule is edited. */
export const viewOf = ({ step, rule }: Pick<Step, 'step' | 'rule'>) =>
  rule === null ? undefined : rule.kind === 'module' ? viewsOfModules[step] : views[rule.kind];
