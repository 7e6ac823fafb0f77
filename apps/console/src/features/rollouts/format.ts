// Rollouts as text: name, progress, gates and rollback rules.
import type { rollouts } from '@edgeloom/contract/rollouts/rollouts.endpoints.ts';
import { ReleaseProduct } from '@edgeloom/contract/edge/releases.ts';
import type { RolloutStrategy } from '@edgeloom/contract/rollouts/rollouts.ts';
import type { Received } from '@edgeloom/contract/endpoint.ts';
import { count, duration, percent } from '../../lib/format.ts';
import type { T } from '../../lib/i18n.ts';
import type { Language } from '../../lib/languages.ts';

export type RolloutDetail = Received<typeof rollouts.get>;
export type Rollout = Received<typeof rollouts.list>['data'][number];
export type Wave = Rollout['waves'][number];
export type Gate = Wave['gates'][number];

export function whatOf({ product, version, title }: Pick<Rollout, 'product' | 'version' | 'title'>, t: T): string {
  if (product !== null)
    return t('rollouts.what.release', { product: t(`rollouts.product.${product}`), version: version ?? '' });
  // The title of a zone change is the zone's name and the version of its settings.
  const { zone, settings } = /^(?<zone>.*) (?<settings>\d+)$/.exec(title)?.groups ?? {};
  return zone === undefined ? title : t('rollouts.what.zone', { zone, version: settings ?? '' });
}

/** Faults whose gate shows the figures. */
export const hasFigures = (fault: string | null) =>
  fault === 'serverErrors' || fault === 'refusals' || fault === 'latency';

export const isOpen = ({ endedAt }: Pick<Rollout, 'endedAt'>) => endedAt === null;

/** Remaining seconds of a watched wave. Null: not watched. */
export const remainingSoak = ({ state, soakEndsAt }: Pick<Wave, 'state' | 'soakEndsAt'>, now: number) =>
  state === 'soaking' && soakEndsAt !== null ? Math.max(0, Math.ceil((Date.parse(soakEndsAt) - now) / 1000)) : null;

/** The current step. */
export function progressText(rollout: Rollout, now: number, t: T, language: Language): string {
  const { state, counts, fault } = rollout;
  const wave = rollout.waves[rollout.wave];
  const values = {
    wave: rollout.wave + 1,
    updated: count(wave?.updated ?? 0),
    nodes: count(wave?.nodes ?? 0),
  };
  const seconds = wave ? remainingSoak(wave, now) : null;
  switch (state) {
    case 'running':
      if (seconds === null) return t('rollouts.now.updating', values);
      if (seconds === 0) return t('rollouts.now.judging', values);
      return t('rollouts.now.soaking', { ...values, time: duration(seconds, language) });
    case 'rollingBack':
      return t('rollouts.now.rollingBack', { back: count(counts.rolledBack), total: count(counts.total) });
    case 'rolledBack':
      // Not a failure: the newer change includes it.
      if (rollout.messageCode?.code === 'newerChange') return t('rollouts.messages.newerChange');
      return t('rollouts.now.rolledBack', { fault: t(`rollouts.fault.${fault ?? 'person'}`) });
    case 'completed':
      return t('rollouts.now.completed', { updated: count(counts.updated), total: count(counts.total) });
    case 'waiting':
    case 'paused':
      return t(`rollouts.now.${state}`, values);
  }
}

/** The text of the banner below the top bar. */
export function bannerText(rollout: Rollout, now: number, t: T, language: Language): string {
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
  const seconds = wave ? remainingSoak(wave, now) : null;
  // The soak time is over; only the gates are pending.
  return seconds === null || seconds === 0
    ? t('rollouts.banner.updating', values)
    : t('rollouts.banner.soaking', { ...values, time: duration(seconds, language) });
}

/** Updated nodes of a wave. Small zones have empty waves. */
export const nodesText = ({ nodes, updated }: Pick<Wave, 'nodes' | 'updated'>, t: T) =>
  nodes === 0 ? t('rollouts.wave.nobody') : t('rollouts.wave.nodes', { count: nodes, updated: count(updated) });

/** `Wave 2 · 10% of each zone`. */
export function waveName({ position, percent: share }: Pick<Wave, 'position' | 'percent'>, of: number, t: T) {
  const wave = position + 1;
  if (share === null) return t('rollouts.wave.first', { wave });
  if (of === 1) return t('rollouts.wave.all');
  return share === 100 ? t('rollouts.wave.rest', { wave }) : t('rollouts.wave.share', { wave, percent: share });
}

/** The waves of a strategy. */
export const wavesOf = (strategy: RolloutStrategy): Pick<Wave, 'position' | 'percent'>[] =>
  (strategy.type === 'allAtOnce' ? [100] : [...(strategy.canary ? [null] : []), ...strategy.percent]).map(
    (share, position) => ({ position, percent: share }),
  );

/** The conditions of an automatic rollback. None in the fast lane. */
export function rollbackConditions(strategy: RolloutStrategy, t: T, language: Language): string[] {
  if (strategy.type === 'allAtOnce') return [];
  const { deadlineSeconds, gates } = strategy;
  return [
    t('rollouts.rules.complete', { time: duration(deadlineSeconds, language) }),
    t('rollouts.rules.connected'),
    t('rollouts.rules.errors'),
    t('rollouts.rules.serverErrors', { share: percent(gates.serverErrors) }),
    ...(gates.refusals < 1 ? [t('rollouts.rules.refusals', { share: percent(gates.refusals) })] : []),
    t('rollouts.rules.latency', { factor: count(gates.latencyFactor) }),
  ];
}

const figure = (value: number, gate: string) =>
  gate !== 'latency' ? percent(value) : `${count(Math.round(value))}\u00a0ms`;

/** A message in the reader's language. Text of people and of a node's programs stays as written. */
export function messageText(
  { messageCode, message }: Pick<Rollout, 'messageCode' | 'message'>,
  t: T,
  language: Language,
): string | null {
  if (messageCode === null) return message;
  const text = codedText(messageCode, t, language);
  return messageCode.node === null ? text : t('rollouts.messages.at', { node: messageCode.node, text });
}

function codedText({ code, values }: NonNullable<Rollout['messageCode']>, t: T, language: Language): string {
  const { value, limit, before, others, requests, seconds, product, ...rest } = values;
  const write = (number: typeof value) => (typeof number === 'number' ? figure(number, code) : '—');
  const named = ReleaseProduct.options.find((known) => known === product);
  if (code === 'timedOut' && typeof seconds === 'number')
    return t('rollouts.messages.timedOutAfter', { time: duration(seconds, language) });
  const text = t(`rollouts.messages.${code}`, {
    ...Object.fromEntries(Object.entries(rest).map(([name, text]) => [name, String(text)])),
    product: named ? t(`rollouts.product.${named}`) : String(product),
    value: write(value),
    limit: write(limit),
    before: write(before),
    others: write(others),
    requests: count(Number(requests ?? 0)),
  });
  return code === 'fewCustomers' ? text : text + affected(Number(rest['customers'] ?? 0), t);
}

const affected = (customers: number, t: T) =>
  customers > 0 ? t('common.semicolon') + t('rollouts.gate.customers', { customers: count(customers) }) : '';

/** Metrics of a gate, or why there are none. Null: the state is enough. */
export function figuresOf(
  { gate, state, value, limit, before, others, requests, customers }: Gate,
  t: T,
): string | null {
  if (state === 'notJudged') return t('rollouts.gate.few', { requests: count(requests ?? 0) });
  if (value === null || limit === null) return null;
  const figures =
    gate === 'serverErrors' || gate === 'refusals'
      ? t('rollouts.gate.share', { value: percent(value), requests: count(requests ?? 0), limit: percent(limit) })
      : t('rollouts.gate.time', { value: figure(value, gate), limit: figure(limit, gate) });
  const none = '—';
  const compared =
    before === null && others === null
      ? ''
      : t('common.semicolon') +
        t('rollouts.gate.compared', {
          before: before === null ? none : figure(before, gate),
          others: others === null ? none : figure(others, gate),
        });
  return figures + compared + (state === 'failed' ? affected(customers ?? 0, t) : '');
}
