// What a rollout is, how far it has come and what makes it go back, in words.
import type { rollouts } from '@edgeloom/contract/rollouts/rollouts.endpoints.ts';
import { ReleaseProduct } from '@edgeloom/contract/edge/releases.ts';
import type { RolloutStrategy } from '@edgeloom/contract/rollouts/rollouts.ts';
import type { Received } from '@edgeloom/contract/endpoint.ts';
import { count, duration, percent } from '../../lib/format.ts';
import type { T } from '../../lib/i18n.ts';
import type { Language } from '../../stores/preferences.ts';

export type RolloutDetail = Received<typeof rollouts.get>;
export type Rollout = Received<typeof rollouts.list>['data'][number];
export type Wave = Rollout['waves'][number];
export type Gate = Wave['gates'][number];

export const whatOf = ({ product, version, title }: Pick<Rollout, 'product' | 'version' | 'title'>, t: T) =>
  product === null
    ? t('rollouts.what.zone', { title })
    : t('rollouts.what.release', { product: t(`rollouts.product.${product}`), version: version ?? '' });

/** Its gate says the same in the reader's words. */
export const isFigures = (fault: string | null) =>
  fault === 'serverErrors' || fault === 'refusals' || fault === 'latency';

export const isOpen = ({ endedAt }: Pick<Rollout, 'endedAt'>) => endedAt === null;

/** Seconds that a wave is still watched; null: nobody watches it. */
export const watchedFor = ({ state, soakEndsAt }: Pick<Wave, 'state' | 'soakEndsAt'>, now: number) =>
  state === 'soaking' && soakEndsAt !== null ? Math.max(0, Math.ceil((Date.parse(soakEndsAt) - now) / 1000)) : null;

/** What a rollout does at this moment: a word of `rollouts.now`, with its values. */
export function nowOf(rollout: Rollout, now: number, t: T, language: Language): string {
  const { state, counts, fault } = rollout;
  const wave = rollout.waves[rollout.wave];
  const values = {
    wave: rollout.wave + 1,
    updated: count(wave?.updated ?? 0),
    nodes: count(wave?.nodes ?? 0),
  };
  const seconds = wave ? watchedFor(wave, now) : null;
  switch (state) {
    case 'running':
      if (seconds === null) return t('rollouts.now.updating', values);
      if (seconds === 0) return t('rollouts.now.judging', values);
      return t('rollouts.now.soaking', { ...values, time: duration(seconds, language) });
    case 'rollingBack':
      return t('rollouts.now.rollingBack', { back: count(counts.back), total: count(counts.total) });
    case 'rolledBack':
      // Nobody asked for its end: what it brought is in the next one.
      if (rollout.saying?.code === 'newerChange') return t('rollouts.says.newerChange');
      return t('rollouts.now.rolledBack', { fault: t(`rollouts.fault.${fault ?? 'person'}`) });
    case 'completed':
      return t('rollouts.now.completed', { updated: count(counts.updated), total: count(counts.total) });
    case 'waiting':
    case 'paused':
      return t(`rollouts.now.${state}`, values);
  }
}

/** The same of whatever is on its way, for a line under the top bar. */
export function bannerOf(rollout: Rollout, now: number, t: T, language: Language): string {
  const { state, fault, waves } = rollout;
  const wave = waves[rollout.wave];
  const values = {
    what: whatOf(rollout, t),
    wave: rollout.wave + 1,
    updated: count(wave?.updated ?? 0),
    nodes: count(wave?.nodes ?? 0),
  };
  if (state === 'rollingBack')
    return t('rollouts.banner.rollingBack', { ...values, fault: t(`rollouts.fault.${fault ?? 'person'}`) });
  if (state === 'paused') return t('rollouts.banner.paused', values);
  const seconds = wave ? watchedFor(wave, now) : null;
  // A wave that has been watched for long enough is judged: nothing is left of its time.
  return seconds === null || seconds === 0
    ? t('rollouts.banner.updating', values)
    : t('rollouts.banner.soaking', { ...values, time: duration(seconds, language) });
}

/** How many of a wave have it. Small zones have waves without anybody. */
export const nodesText = ({ nodes, updated }: Pick<Wave, 'nodes' | 'updated'>, t: T) =>
  nodes === 0 ? t('rollouts.wave.nobody') : t('rollouts.wave.nodes', { count: nodes, updated: count(updated) });

/** `Wave 2 · 10% of each zone`. */
export function waveName({ position, percent: share }: Pick<Wave, 'position' | 'percent'>, of: number, t: T) {
  const wave = position + 1;
  if (share === null) return t('rollouts.wave.first', { wave });
  if (of === 1) return t('rollouts.wave.all');
  return share === 100 ? t('rollouts.wave.rest', { wave }) : t('rollouts.wave.share', { wave, percent: share });
}

/** The waves that a strategy comes to. */
export const wavesOf = (strategy: RolloutStrategy): Pick<Wave, 'position' | 'percent'>[] =>
  (strategy.type === 'allAtOnce' ? [100] : [...(strategy.canary ? [null] : []), ...strategy.percent]).map(
    (share, position) => ({ position, percent: share }),
  );

/** What makes it go back by itself; nothing in the fast lane. */
export function reasonsToGoBack(strategy: RolloutStrategy, t: T, language: Language): string[] {
  if (strategy.type === 'allAtOnce') return [];
  const { deadlineSeconds, gates } = strategy;
  return [
    t('rollouts.back.complete', { time: duration(deadlineSeconds, language) }),
    t('rollouts.back.connected'),
    t('rollouts.back.errors'),
    t('rollouts.back.serverErrors', { share: percent(gates.serverErrors) }),
    ...(gates.refusals < 1 ? [t('rollouts.back.refusals', { share: percent(gates.refusals) })] : []),
    t('rollouts.back.latency', { factor: count(gates.latencyFactor) }),
  ];
}

const written = (value: number, gate: string) =>
  gate !== 'latency' ? percent(value) : `${count(Math.round(value))}\u00a0ms`;

/** What the engine said, in the reader's words; what a person or a node's programs said stands as it is. */
export function said(
  { saying, message }: Pick<Rollout, 'saying' | 'message'>,
  t: T,
  language: Language,
): string | null {
  if (saying === null) return message;
  const text = sayingText(saying, t, language);
  return saying.node === null ? text : t('rollouts.says.at', { node: saying.node, said: text });
}

function sayingText({ code, values }: NonNullable<Rollout['saying']>, t: T, language: Language): string {
  const { value, limit, before, others, requests, seconds, product, ...rest } = values;
  const write = (figure: typeof value) => (typeof figure === 'number' ? written(figure, code) : '—');
  const named = ReleaseProduct.options.find((known) => known === product);
  if (code === 'late' && typeof seconds === 'number')
    return t('rollouts.says.lateIn', { time: duration(seconds, language) });
  const text = t(`rollouts.says.${code}`, {
    ...Object.fromEntries(Object.entries(rest).map(([name, text]) => [name, String(text)])),
    product: named ? t(`rollouts.product.${named}`) : String(product),
    value: write(value),
    limit: write(limit),
    before: write(before),
    others: write(others),
    requests: count(Number(requests ?? 0)),
  });
  return code === 'fewCustomers' ? text : text + whose(Number(rest['customers'] ?? 0), t);
}

/** Nothing, where nobody told. */
const whose = (customers: number, t: T) =>
  customers > 0 ? t('common.semicolon') + t('rollouts.gate.customers', { customers: count(customers) }) : '';

/** The figures of a gate, or why there are none; null where its state says it all. */
export function figuresOf(
  { gate, state, value, limit, before, others, requests, customers }: Gate,
  t: T,
): string | null {
  if (state === 'notJudged') return t('rollouts.gate.few', { requests: count(requests ?? 0) });
  if (value === null || limit === null) return null;
  const figures =
    gate === 'serverErrors' || gate === 'refusals'
      ? t('rollouts.gate.share', { value: percent(value), requests: count(requests ?? 0), limit: percent(limit) })
      : t('rollouts.gate.time', { value: written(value, gate), limit: written(limit, gate) });
  const none = '—';
  const compared =
    before === null && others === null
      ? ''
      : t('common.semicolon') +
        t('rollouts.gate.compared', {
          before: before === null ? none : written(before, gate),
          others: others === null ? none : written(others, gate),
        });
  return figures + compared + (state === 'failed' ? whose(customers ?? 0, t) : '');
}
