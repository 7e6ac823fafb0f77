import { upgrades, rollouts } from '@edgeloom/contract/rollouts/rollouts.endpoints.ts';
import { Button } from '@mantine/core';
import { IconCloudUp } from '@tabler/icons-react';
import { Link } from 'react-router-dom';
import { useOverlay } from '../../components/overlay/overlay.tsx';
import { Page } from '../../components/page/page.tsx';
import { Await } from '../../components/states/await.tsx';
import { Status } from '../../components/status/status.tsx';
import { Nothing, Time } from '../../components/values/values.tsx';
import { to } from '../../lib/family.ts';
import { count } from '../../lib/format.ts';
import { useLanguage, useT } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { useNow } from '../../lib/use-now.ts';
import { progressText, whatOf } from '../rollouts/format.ts';
import { Progress } from '../rollouts/progress.tsx';
import { RolloutActions } from '../rollouts/rollout-actions.tsx';
import { RolloutsTable } from '../rollouts/rollouts-table.tsx';
import { contentsOf } from './contents.ts';
import { UpgradeForm, type Latest } from './upgrade-form.tsx';
import classes from './upgrades.module.css';

/** Releases, installed versions and running rollouts. */
export function UpgradesPage() {
  const t = useT();
  const found = useEndpoint(upgrades.latest, {}, { pollMs: 5000 });
  return (
    <Page title="upgrades.title">
      <Running />
      <Await result={found}>
        {({ data }) => (
          <section className={classes['section']}>
            <h2>{t('upgrades.newest')}</h2>
            <p>{t('upgrades.newestWhy')}</p>
            <ul className={classes['products']}>
              {data.map((of) => (
                <Product key={of.product} of={of} />
              ))}
            </ul>
          </section>
        )}
      </Await>
      <section className={classes['history']}>
        <h2>{t('upgrades.history')}</h2>
        <RolloutsTable kind="release" />
      </section>
    </Page>
  );
}

function Product({ of }: { of: Latest }) {
  const t = useT();
  const can = useCan();
  const overlay = useOverlay();
  const { product, version, createdAt, versions, levels, behind } = of;
  const hasNodes = of.nodes.length > 0;
  const offer = () =>
    overlay(<UpgradeForm product={product} />, {
      title: { text: t('upgrades.of', { product: t(`rollouts.product.${product}`) }) },
    });
  return (
    <li>
      <div>
        <b>{t(`rollouts.product.${product}`)}</b>
        <div className={classes['newest']}>
          {version === null ? (
            product === 'agent' ? (
              t('upgrades.none')
            ) : (
              t('upgrades.noPack')
            )
          ) : (
            <>
              {version} · <Time at={createdAt} />
              {levels !== null && <div>{contentsOf(levels, t)}</div>}
            </>
          )}
        </div>
      </div>
      <Versions of={of} />
      <div className={classes['offer']}>
        {version !== null && hasNodes && (
          <span data-behind={behind > 0 || undefined}>
            {behind > 0 ? t('upgrades.behind', { count: behind }) : t('upgrades.current')}
          </span>
        )}
        {versions.length > 0 && hasNodes && can(upgrades.begin) && (
          <Button
            variant={behind > 0 ? 'filled' : 'default'}
            leftSection={<IconCloudUp size={15} stroke={1.6} />}
            onClick={offer}
          >
            {behind > 0 ? t('upgrades.startCount', { count: behind }) : t('upgrades.again')}
          </Button>
        )}
      </div>
    </li>
  );
}

/** Number of nodes per version, as a bar and in figures. */
function Versions({ of: { nodes, version: newest } }: { of: Latest }) {
  const t = useT();
  const total = nodes.reduce((sum, { count: having }) => sum + having, 0);
  if (total === 0) return <Nothing />;
  const ordered = nodes.toSorted(
    (a, b) => Number(b.version === newest) - Number(a.version === newest) || b.count - a.count,
  );
  return (
    <div className={classes['versions']}>
      <span className={classes['bar']} aria-hidden>
        {ordered.map(({ version, count: having }) => (
          <span
            key={version}
            data-of={version === newest ? 'newest' : version === '' ? 'none' : 'other'}
            style={{ inlineSize: `${(100 * having) / total}%` }}
          />
        ))}
      </span>
      <ul>
        {ordered.map(({ version, count: having }) => (
          <li key={version} data-of={version === newest ? 'newest' : version === '' ? 'none' : 'other'}>
            {t('upgrades.having', { version: version || t('upgrades.noVersion'), count: count(having) })}
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Running rollouts with their actions. */
function Running() {
  const t = useT();
  const language = useLanguage();
  const open = ['waiting', 'running', 'paused', 'rollingBack'] as const;
  const { data } = useEndpoint(
    rollouts.list,
    { query: { kind: 'release', state: [...open], pageSize: 25 } },
    { poll: (page) => (page && page.total > 0 ? 2000 : 10_000) },
  );
  const now = useNow((data?.total ?? 0) > 0);
  if (!data || data.total === 0) return null;
  return (
    <section className={classes['section']}>
      <h2>{t('upgrades.running')}</h2>
      <ul className={classes['running']}>
        {data.data.map((rollout) => (
          <li key={rollout.id}>
            <div>
              <Link to={to(`nodeManage/rollouts/${rollout.id}`)}>{whatOf(rollout, t)}</Link>
              <Status kind="rollout" value={rollout.state} text={progressText(rollout, now, t, language)} />
            </div>
            <Progress of={rollout} />
            <div className={classes['acts']}>
              <RolloutActions rollout={rollout} />
            </div>
          </li>
        ))}
      </ul>
      {data.total > data.data.length && (
        <p>
          {t('common.form.moreRows', { more: count(data.total - data.data.length) })}{' '}
          <Link to={to(`nodeManage/rollouts?kind=release&state=${open.join(',')}`)}>{t('common.showAll')}</Link>
        </p>
      )}
    </section>
  );
}
