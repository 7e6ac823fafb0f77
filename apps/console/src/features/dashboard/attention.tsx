import { attention } from '@edgeloom/contract/attention/attention.calls.ts';
import type { ReactNode } from 'react';
import { Link } from 'react-router-dom';
import { Await } from '../../components/states/await.tsx';
import { StatusMark } from '../../components/status/status-mark.tsx';
import { family, to as inConsole } from '../../lib/family.ts';
import { count, time } from '../../lib/format.ts';
import { useT, type T } from '../../lib/i18n.ts';
import { modulePages } from '../../lib/module-pages.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import type { Tone } from '../../theme/tokens.ts';
import { placeOf, type AttentionItem } from './attention-places.ts';
import classes from './dashboard.module.css';
import { Panel } from './panel.tsx';

const tones: Readonly<Record<AttentionItem['kind'], Tone>> = {
  nodesRejected: 'bad',
  nodesOffline: 'bad',
  nodesFailingMonitors: 'bad',
  sitesUnpublished: 'bad',
  cnameInactive: 'bad',
  certificatesMissing: 'bad',
  certificatesFailed: 'bad',
  jobsFailed: 'bad',
  nodeJobsFailed: 'bad',
  licenseEnded: 'bad',
  installationLicenseEnded: 'bad',
  rolloutsStopped: 'warn',
  nodesDisconnected: 'warn',
  monitorsOffline: 'warn',
  nodesLosingLogs: 'warn',
  nodesBehind: 'warn',
  certificatesEnding: 'warn',
  licenseEnding: 'warn',
  licenseNearLimit: 'warn',
  installationLicenseEnding: 'warn',
  installationLicenseMoved: 'warn',
  installationLicenseNearLimit: 'warn',
  modulesUnused: 'warn',
};

/**
 * Most severe first. Each item links to a list of the counted rows. The list of an item that counts the rest also has
 * the rows of the items before it. `clear` is shown when there is none.
 */
export function Attention({ clear }: { clear: ReactNode }) {
  const result = useEndpoint(attention.list, {}, { pollMs: 30_000 });
  return (
    <Panel title="dashboard.attention">
      <Await result={result}>
        {({ data }) =>
          data.length === 0 ? (
            clear
          ) : (
            <ul className={classes['items']}>
              {data.map((item) => (
                <Item
                  key={`${item.kind} ${item.site?.id} ${item.moduleKind} ${item.accountID} ${item.limit?.of}`}
                  item={item}
                />
              ))}
            </ul>
          )
        }
      </Await>
    </Panel>
  );
}

function Item({ item }: { item: AttentionItem }) {
  const t = useT();
  const text = textOf(item, t);
  const tone = tones[item.kind];
  return (
    <li className={classes['item']}>
      <StatusMark tone={tone} label={t(`status.tone.${tone}`)} />
      <span className={classes['what']}>
        {text}
        <small className={classes['which']}>{namesOf(item, t)}</small>
      </span>
      <Link to={inConsole(placeOf(item, family))} aria-label={`${t('dashboard.open')}: ${text}`}>
        {t('dashboard.open')}
      </Link>
    </li>
  );
}

function textOf({ kind, count: rows, moduleKind, endsAt, limit }: AttentionItem, t: T): string {
  if (limit)
    return t(`dashboard.kinds.${kind}`, {
      count: rows,
      limit: t(`dashboard.limits.${limit.of}`),
      uses: count(limit.uses),
      most: count(limit.most),
    });
  if (moduleKind)
    return t('dashboard.kinds.modulesUnused', {
      kind: t(`${modulePages[moduleKind].words}.title`),
      count: rows,
      rows: count(rows),
    });
  if (kind === 'modulesUnused') return t('dashboard.kinds.modulesRestUnused', { count: rows, rows: count(rows) });
  // Licenses are listed one by one; the rest is one item.
  const isRest = endsAt === null && (kind === 'licenseEnding' || kind === 'licenseNearLimit');
  if (isRest)
    return t(`dashboard.kinds.${kind === 'licenseEnding' ? 'licenseRestEnding' : 'licenseRestNearLimit'}`, {
      count: rows,
      rows: count(rows),
    });
  return t(`dashboard.kinds.${kind}`, { count: rows, rows: count(rows), time: time(endsAt) });
}

/** The first names, the number of others, and the site. */
function namesOf({ kind, names, count: rows, site, siteCount }: AttentionItem, t: T): string {
  const more = rows - names.length;
  const listed = names.join(t('common.comma'));
  const isSite = kind === 'sitesUnpublished';
  return [
    more > 0 ? t('dashboard.more', { names: listed, count: more, more: count(more) }) : listed,
    ...(site && !isSite ? [site.name] : []),
    ...(siteCount > 1 && !isSite ? [t('dashboard.onSites', { count: siteCount, sites: count(siteCount) })] : []),
  ].join(' · ');
}
