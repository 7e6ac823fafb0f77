import { ReleaseVersion, type ReleaseProduct } from '@edgeloom/contract/edge/releases.ts';
import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { upgrades } from '@edgeloom/contract/rollouts/rollouts.endpoints.ts';
import { MOST_UPGRADED } from '@edgeloom/contract/rollouts/rollouts.ts';
import type { Received } from '@edgeloom/contract/endpoint.ts';
import { IconCloudUp } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from 'react-router-dom';
import * as z from 'zod';
import { ChoiceField } from '../../components/fields/choice-field.tsx';
import { NumberField } from '../../components/fields/number-field.tsx';
import { SwitchField } from '../../components/fields/switch-field.tsx';
import { TextField } from '../../components/fields/text-field.tsx';
import { useForm } from '../../components/resource-form/form-state.ts';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import { everyRow } from '../../components/resource-table/every-row.ts';
import { Await } from '../../components/states/await.tsx';
import { EmptyState, FailedState, PageLoading } from '../../components/states/states.tsx';
import { to } from '../../lib/family.ts';
import { count, duration } from '../../lib/format.ts';
import { useLanguage, useT } from '../../lib/i18n.ts';
import { keyOf } from '../../lib/queries.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { isConnected } from '../nodes/figures.ts';
import type { EdgeNode } from '../nodes/node-states.ts';
import { waveName, wavesOf } from '../rollouts/format.ts';
import { RollbackRules } from '../rollouts/rollback-rules.tsx';
import { strategyOf, UpgradeDraft } from './paces.ts';
import classes from './upgrades.module.css';

export type Latest = Received<typeof upgrades.latest>['data'][number];

/** The node's version of a product, or ''. */
const versionAt = ({ version, packs }: Pick<EdgeNode, 'version' | 'packs'>, product: ReleaseProduct) =>
  product === 'agent' ? version : (packs.find((pack) => pack.product === product)?.version ?? '');

const Begun = z.object({ id: z.string() });

/** Upgrades the selected or all nodes that do not have the version. */
export function UpgradeForm({ product, rows }: { product: ReleaseProduct; rows?: readonly EdgeNode[] }) {
  const t = useT();
  const latest = useEndpoint(upgrades.latest);
  const every = useEveryNode(rows === undefined);
  return (
    <Await result={latest}>
      {({ data }) => {
        const of = data.find((one) => one.product === product);
        if (!of || of.versions.length === 0) return <EmptyState icon={IconCloudUp} title={t('upgrades.none')} />;
        const those = rows ?? every.data;
        if (those === undefined)
          return every.error ? <FailedState error={every.error} retry={() => void every.refetch()} /> : <PageLoading />;
        return <Form of={of} rows={those} />;
      }}
    </Await>
  );
}

/** Loads all pages. */
const useEveryNode = (enabled: boolean) =>
  useQuery({
    queryKey: [...keyOf(nodes.initialized, {}), 'every'],
    queryFn: ({ signal }) =>
      everyRow<EdgeNode>({ endpoint: nodes.initialized, query: {} }, { signal, onProgress: () => undefined }),
    enabled,
  });

/** An agent that was not installed from a release cannot roll back. */
const isAble = ({ initialized, release }: EdgeNode, product: ReleaseProduct) =>
  initialized && (product !== 'agent' || release !== null);

function Form({ of, rows }: { of: Latest; rows: readonly EdgeNode[] }) {
  const navigate = useNavigate();
  const able = rows.filter((node) => isAble(node, of.product));
  const takers = (version: unknown) => able.filter((node) => versionAt(node, of.product) !== version);
  const schema = UpgradeDraft.refine(({ version }) => takers(version).length > 0, {
    path: ['version'],
    message: 'no node is left to upgrade',
  });
  return (
    <ResourceForm
      create={upgrades.begin}
      schema={schema}
      initial={{ version: of.version ?? undefined }}
      wrap={(values) => {
        const draft = UpgradeDraft.parse(values);
        return {
          ids: takers(draft.version)
            .slice(0, MOST_UPGRADED)
            .map(({ id }) => id),
          product: of.product,
          version: draft.version,
          strategy: strategyOf(draft),
          ...(draft.reason !== '' && { reason: draft.reason }),
        };
      }}
      submitLabel="upgrades.start"
      done="upgrades.begun"
      onDone={(reply) => {
        const begun = Begun.safeParse(reply).data;
        if (begun) void navigate(to(`nodeManage/rollouts/${begun.id}`));
      }}
    >
      <ChoiceField name="version" choices={of.versions} />
      <Who of={of} takersOf={takers} leftOut={rows.length - able.length} />
      <ChoiceField name="strategy" />
      <OwnWaves />
      <TextField name="reason" />
      <WhatFollows />
    </ResourceForm>
  );
}

interface WhoProps {
  of: Latest;
  takersOf: (version: unknown) => readonly EdgeNode[];
  leftOut: number;
}

/** Number of nodes to upgrade, with warnings. */
function Who({ of, takersOf, leftOut }: WhoProps) {
  const t = useT();
  const { version } = useForm().values;
  const takers = takersOf(version);
  const away = takers.filter((node) => !isConnected(node)).length;
  const known = ReleaseVersion.safeParse(version).data;
  const order = known === undefined ? -1 : of.versions.indexOf(known);
  const isOlder = takers.some((node) => {
    const had = of.versions.findIndex((one) => one === versionAt(node, of.product));
    return had !== -1 && had < order;
  });
  return (
    <ul className={classes['who']}>
      <li>
        <b>{takers.length === 0 ? t('upgrades.nobody') : t('upgrades.for', { count: takers.length })}</b>
      </li>
      {takers.length > MOST_UPGRADED && <li data-warns>{t('upgrades.most', { count: count(MOST_UPGRADED) })}</li>}
      {away > 0 && <li>{t('upgrades.away', { count: away })}</li>}
      {leftOut > 0 && <li>{t('upgrades.cannot', { count: leftOut })}</li>}
      {isOlder && <li data-warns>{t('upgrades.older')}</li>}
    </ul>
  );
}

function OwnWaves() {
  const { values } = useForm();
  if (values['strategy'] !== 'own') return null;
  return (
    <>
      <SwitchField name="canary" />
      <TextField name="percent" />
      <NumberField name="soakSeconds" min={0} suffix=" s" />
      <NumberField name="deadlineSeconds" min={10} suffix=" s" />
      <NumberField name="serverErrors" min={0} max={100} suffix=" %" />
      <NumberField name="refusals" min={0} max={100} suffix=" %" />
      <NumberField name="latencyFactor" min={1} max={100} suffix=" ×" />
      <NumberField name="requests" min={1} />
    </>
  );
}

/** Preview of waves and rollback conditions. */
function WhatFollows() {
  const t = useT();
  const language = useLanguage();
  const { values } = useForm();
  const draft = UpgradeDraft.safeParse({ ...values, reason: 'any' }).data;
  if (!draft) return null;
  const strategy = strategyOf(draft);
  const waves = wavesOf(strategy);
  const watched =
    strategy.type === 'allAtOnce' || strategy.soakSeconds === 0
      ? t('upgrades.unwatched')
      : t('upgrades.watched', { time: duration(strategy.soakSeconds, language) });
  return (
    <section className={classes['follows']}>
      <h3>{t('upgrades.wavesAre')}</h3>
      <ol>
        {waves.map((wave) => (
          <li key={wave.position}>
            <span>{waveName(wave, waves.length, t)}</span>
            <span>{watched}</span>
          </li>
        ))}
      </ol>
      <h3>{t('upgrades.whenBack')}</h3>
      <RollbackRules strategy={strategy} />
    </section>
  );
}
