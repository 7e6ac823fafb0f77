import type { Received } from '@edgeloom/contract/endpoint.ts';
import { statistics } from '@edgeloom/contract/statistics/statistics.calls.ts';
import { Tooltip } from '@mantine/core';
import { useContext } from 'react';
import { count } from '../../lib/format.ts';
import { useT } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { SiteContext } from '../frame/site-scope.ts';
import type { Column } from '../resource-table/columns.tsx';
import { Nothing } from '../values/values.tsx';
import classes from './rules.module.css';

type Match = Pick<Received<typeof statistics.rules>['data'][number], 'requests' | 'wouldBlock'>;
/** Requests of the last 24 hours by rule. Null: not loaded, or not measured. Undefined: not shown. */
export type RuleMatches = ReadonlyMap<string, Match> | null | undefined;

/** One call for all rules of the site. */
export function useRuleMatches(): RuleMatches {
  const can = useCan();
  const site = useContext(SiteContext);
  const isShown = site !== null && can(statistics.rules);
  const { data: found } = useEndpoint(statistics.rules, { params: { siteId: site?.id ?? '' } }, { enabled: isShown });
  if (!isShown) return undefined;
  return found?.isMeasured ? new Map(found.data.map(({ ruleID, ...match }) => [ruleID, match])) : null;
}

/** The column of a table of rules. Empty for accounts that may not read it. */
export function useMatchesColumn<Row extends { id: string }>(): Column<Row>[] {
  const matches = useRuleMatches();
  if (matches === undefined) return [];
  return [
    {
      key: 'matches',
      title: 'shared.rules.matchesTitle',
      sort: false,
      align: 'right',
      priority: 2,
      render: ({ id }) => <RuleMatchCount matches={matches} id={id} />,
      text: ({ id }) => (matches === null ? '' : String(matches.get(id)?.requests ?? 0)),
    },
  ];
}

interface RuleMatchCountProps {
  matches: RuleMatches;
  /** Null for a rule that is not published, which has no number. */
  id: string | null;
  /** Shows what the number is, where the list has no title for it. */
  hasTitle?: boolean;
}

/** The number beside a rule. */
export function RuleMatchCount({ matches, id, hasTitle = false }: RuleMatchCountProps) {
  const t = useT();
  if (matches === undefined || id === null) return null;
  const { requests, wouldBlock } = matches?.get(id) ?? { requests: 0, wouldBlock: null };
  const isMonitored = wouldBlock !== null && wouldBlock > 0;
  const explained = [
    t('shared.rules.matches', { count: requests, number: count(requests) }),
    ...(isMonitored ? [t('shared.rules.wouldBlockWhy', { number: count(wouldBlock) })] : []),
  ];
  return (
    <Tooltip label={matches === null ? t('shared.rules.noMatches') : explained.join(t('common.semicolon'))}>
      <span className={classes['matches']}>
        {hasTitle && (
          <span className={classes['matchesName']}>
            {t('shared.rules.matchesTitle')}
            {t('common.colon')}
          </span>
        )}
        {matches === null ? <Nothing /> : count(requests)}
        {!hasTitle && <span className="hidden-text"> {t('shared.rules.matchesTitle')}</span>}
        {isMonitored && (
          <span className={classes['wouldBlock']}> {t('shared.rules.wouldBlock', { number: count(wouldBlock) })}</span>
        )}
      </span>
    </Tooltip>
  );
}
