// The built-in rules, and which of them a firewall of the site applies.
import type { Received } from '@edgeloom/contract/endpoint.ts';
import { statistics } from '@edgeloom/contract/statistics/statistics.calls.ts';
import { topTypes } from '@edgeloom/contract/statistics/type-numbers.ts';
import { wafs } from '@edgeloom/contract/waf/waf.endpoints.ts';
import { wafCategories, wafSeverities } from '@edgeloom/contract/waf/waf.ts';
import { Button, Group, Switch } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'react-router-dom';
import { Page } from '../../components/page/page.tsx';
import type { Column } from '../../components/resource-table/columns.tsx';
import { ResourceTable } from '../../components/resource-table/resource-table.tsx';
import { RuleMatchCount, type RuleMatches } from '../../components/rules/rule-matches.tsx';
import { useLanguage, useT } from '../../lib/i18n.ts';
import { siteAddress } from '../../lib/site-address.ts';
import { useCan } from '../../lib/use-can.ts';
import { useAction, useEndpoint } from '../../lib/use-endpoint.ts';
import { exceptionsFor, matchesOf, stateOf } from './rule-state.ts';
import type { Waf } from './waf-form.tsx';

type WafRule = Received<typeof wafs.defaultRules>['data'][number];
interface Site {
  id: string;
  name: string;
}

export function RulesPage({ site, firewall }: { site: Site; firewall: Waf }) {
  const t = useT();
  const language = useLanguage();
  const [openedAt] = useState(Date.now);
  const matches = useMatches(site.id);
  const category = (rule: WafRule) => t(`wafs.categories.${rule.category}`);
  const severity = (rule: WafRule) => t(`wafs.choices.severity.${rule.severity}`);
  const references = (rule: WafRule) => rule.references.join(', ');
  const columns: Column<WafRule>[] = [
    {
      key: 'name',
      sort: false,
      flexible: true,
      render: (rule) => rule.name[language],
      text: (rule) => rule.name[language],
    },
    { key: 'id', title: 'wafs.fields.ruleID', sort: false, priority: 2 },
    { key: 'category', sort: false, render: category, text: category },
    { key: 'severity', sort: false, render: severity, text: severity },
    { key: 'paranoia', sort: false, align: 'right', priority: 2 },
    { key: 'references', sort: false, priority: 3, render: references, text: references },
    {
      key: 'description',
      sort: false,
      hidden: true,
      flexible: true,
      render: (rule) => rule.description[language],
      text: (rule) => rule.description[language],
    },
    {
      key: 'exceptions',
      sort: false,
      align: 'right',
      render: (rule) => String(exceptionsFor(rule, firewall, openedAt)),
    },
    ...(matches === undefined
      ? []
      : [
          {
            key: 'matches',
            title: 'shared.rules.matchesTitle',
            sort: false,
            align: 'right',
            render: ({ id }: WafRule) => <RuleMatchCount matches={matches} id={id} />,
            text: ({ id }: WafRule) => (matches === null ? '' : String(matches.get(id)?.requests ?? 0)),
          } as const,
        ]),
    {
      key: 'state',
      title: 'wafs.fields.applied',
      sort: false,
      render: (rule) => <RuleSwitch site={site} firewall={firewall} rule={rule} />,
      text: (rule) => t(`wafs.ruleStates.${stateOf(rule, firewall)}`),
    },
  ];
  return (
    <Page
      title="wafs.rules"
      name={t('wafs.rulesOf', { name: firewall.name })}
      actions={
        <Button component={Link} to={siteAddress(site, 'waf')} variant="default">
          {t('wafs.all')}
        </Button>
      }
    >
      <ResourceTable
        endpoint={wafs.defaultRules}
        columns={columns}
        caption="wafs.rules"
        search="keyword"
        filters={[
          { key: 'category', choices: wafCategories, labels: 'wafs.categories' },
          { key: 'severity', choices: wafSeverities },
          { key: 'paranoia', choices: ['1', '2', '3', '4'] },
        ]}
        phone={(rule) => ({
          name: rule.name[language],
          below: `${category(rule)} · ${severity(rule)}`,
          end: <RuleSwitch site={site} firewall={firewall} rule={rule} />,
        })}
      />
    </Page>
  );
}

function RuleSwitch({ site, firewall, rule }: { site: Site; firewall: Waf; rule: WafRule }) {
  const t = useT();
  const language = useLanguage();
  const can = useCan();
  const { run, running } = useAction(wafs.enableRules);
  const state = stateOf(rule, firewall);
  return (
    <Group gap="xs" wrap="nowrap">
      <Switch
        size="xs"
        aria-label={t('wafs.apply', { name: rule.name[language] })}
        checked={state !== 'off' && state !== 'categoryOff'}
        disabled={running || state === 'categoryOff' || !can(wafs.enableRules)}
        onChange={(event) =>
          void run({
            params: { siteId: site.id },
            body: { moduleID: firewall.id, rules: [rule.id], enabled: event.currentTarget.checked },
          })
        }
      />
      {(state === 'categoryOff' || state === 'aboveLevel') && t(`wafs.ruleStates.${state}`)}
    </Group>
  );
}

/** Requests of the site's last 24 hours that a rule refused, or would have. */
function useMatches(siteId: string): RuleMatches {
  const can = useCan();
  const enabled = can(statistics.top);
  const query = { siteIDs: [siteId], timeInterval: 'oneDay' as const, top: 1000 };
  const refused = useEndpoint(statistics.top, { body: { ...query, type: topTypes.wafRule } }, { enabled });
  const monitored = useEndpoint(statistics.top, { body: { ...query, type: topTypes.wafMonitored } }, { enabled });
  if (!enabled) return undefined;
  return refused.data && monitored.data ? matchesOf(refused.data.data, monitored.data.data) : null;
}
