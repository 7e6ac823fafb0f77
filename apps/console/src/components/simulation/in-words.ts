// Describes each step of a simulation as a sentence.
import type { Simulation } from '@edgeloom/contract/simulate/simulate.ts';
import { count, duration } from '../../lib/format.ts';
import { currentLanguage, tMaybe } from '../../lib/i18n.ts';
import type { Tone } from '../../theme/tokens.ts';

type Step = Simulation['steps'][number];

/** The texts of a rule list are in its own file. */
export const nameOf = ({ step }: { step: string }) =>
  tMaybe(`simulate.names.${step}`) ?? tMaybe(`${step}.name`) ?? step;

const none = { status: '', target: '', why: '', seconds: '', age: '', ttl: '', address: '', name: '', path: '' };

export function outcomeOf({ step, decision, detail }: Pick<Step, 'step' | 'decision' | 'detail'>): string {
  const why = detail['why'];
  const times = ['seconds', 'age', 'ttl'].flatMap((name) => {
    const seconds = detail[name];
    return seconds === undefined ? [] : [[name, duration(Number(seconds), currentLanguage())] as const];
  });
  const measured = Object.entries(detail).flatMap(([name, value]) => {
    const unit = tMaybe(`${step}.units.${name}`);
    return unit === null ? [] : [[name, `${count(Number(value))}${unit}`] as const];
  });
  const values = {
    ...none,
    ...detail,
    ...Object.fromEntries(times),
    ...Object.fromEntries(measured),
    ...(why !== undefined && { why: tMaybe(`simulate.whys.${why}`) ?? why }),
  };
  return (
    tMaybe(`simulate.outcomes.${step}.${decision}`, values) ??
    tMaybe(`${step}.simulated.${decision}`, values) ??
    tMaybe(`simulate.decisions.${decision}`, values) ??
    decision
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
  switchedOff: 'warn',
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
  frequency: 'limits',
  limitReq: 'limits',
  limitConn: 'limits',
  antiCC: 'challenges',
  redirect: 'redirects',
  errorPage: 'errors',
  upstream: 'domains',
  tokenAuth: 'tokens',
  acl: 'access',
};
const viewsOfModules: Readonly<Record<string, string>> = {
  urlRedirect: 'redirects',
  cors: 'cors',
  corsAnswer: 'cors',
  proxyRewrite: 'rewrite',
  requestHeaders: 'headers',
  responseHeaders: 'headers',
  tokenAuth: 'tokens',
  luaAcl: 'scripts',
  waf: 'waf',
};
/** The site's page on which the rule is edited. The step of a rule list has the name of its page. */
export function viewOf({ step, rule }: { step: string; rule: Step['rule'] }) {
  if (rule === null || rule.kind === 'rule' || rule.kind === 'zoneList') return undefined;
  return rule.kind === 'module' ? viewsOfModules[step] : (views[rule.kind] ?? step);
}
