import { crawlers } from '@edgeloom/contract/crawlers/crawlers.endpoints.ts';
import { CrawlerAction, CrawlerCategory, type CrawlerRule } from '@edgeloom/contract/crawlers/crawlers.ts';
import { Checkbox, NumberInput, Select } from '@mantine/core';
import * as z from 'zod';
import { Section } from '../../components/page/section.tsx';
import { useField } from '../../components/resource-form/form-state.ts';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import { RuleMatchCount, useRuleMatches, type RuleMatches } from '../../components/rules/rule-matches.tsx';
import { Await } from '../../components/states/await.tsx';
import { useT } from '../../lib/i18n.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import classes from './crawlers.module.css';

/** A rule while it is edited. */
const Draft = z.object({
  category: CrawlerCategory,
  action: CrawlerAction,
  /** Absent: the field is empty. */
  perMinute: z.number().optional(),
  monitor: z.boolean(),
});
type Draft = z.output<typeof Draft>;
type SavedRules = ReadonlyMap<CrawlerCategory, CrawlerRule>;

/** One rule for each category of crawlers. */
export function CrawlersTab({ params }: { params: { siteId: string } }) {
  return (
    <Await result={useEndpoint(crawlers.get, { params })}>
      {({ rules }) => (
        <ResourceForm
          update={crawlers.update}
          params={params}
          value={{ rules: rules.map(({ id: _, ...rule }) => rule) }}
          refreshes={['sites']}
          bar
          preview
        >
          <Section title="crawlers.categories" why="crawlers.categoriesWhy" wide>
            <RulesField saved={new Map(rules.map((rule) => [rule.category, rule]))} />
          </Section>
        </ResourceForm>
      )}
    </Await>
  );
}

function RulesField({ saved }: { saved: SavedRules }) {
  const matches = useRuleMatches();
  const { value, set, inner, input } = useField('rules');
  const drafts = z.array(Draft).catch([]).parse(value);
  const change = (at: number, part: Partial<Draft>) =>
    set(drafts.map((draft, i) => (i === at ? { ...draft, ...part } : draft)));
  return (
    <ul className={classes['rules']} aria-label={input.label}>
      {drafts.map((draft, i) => (
        <RuleRow
          key={draft.category}
          draft={draft}
          saved={saved.get(draft.category)}
          matches={matches}
          error={inner.get(`${i}.perMinute`)}
          disabled={input.disabled}
          onChange={(part) => change(i, part)}
        />
      ))}
    </ul>
  );
}

interface RuleRowProps {
  draft: Draft;
  saved: CrawlerRule | undefined;
  matches: RuleMatches;
  error: string | undefined;
  disabled: boolean;
  onChange: (part: Partial<Draft>) => void;
}

function RuleRow({ draft, saved, matches, error, disabled, onChange }: RuleRowProps) {
  const t = useT();
  const { category, action, perMinute, monitor } = draft;
  const name = t(`crawlers.choices.category.${category}`);
  const warning = warningOf(draft);
  return (
    <li className={classes['rule']} aria-label={name}>
      <div className={classes['about']}>
        <strong>{name}</strong>
        <p>{t(`crawlers.examples.${category}`)}</p>
      </div>
      {/* Select's hidden input would count as a grid child. */}
      <div>
        <Select
          label={t('crawlers.fields.action')}
          data={CrawlerAction.options.map((one) => ({
            value: one,
            label: t(
              one === 'allow' && category === 'impostor' ? 'crawlers.asNamed' : `crawlers.choices.action.${one}`,
            ),
          }))}
          value={action}
          allowDeselect={false}
          disabled={disabled}
          // Resets the limit: with another action no field would show that a number is invalid.
          onChange={(next) =>
            onChange({ action: CrawlerAction.catch(action).parse(next), perMinute: saved?.perMinute })
          }
        />
        {action === 'limit' && (
          <NumberInput
            mt={8}
            label={t('crawlers.fields.perMinute')}
            description={t('crawlers.hints.perMinute')}
            value={perMinute ?? ''}
            min={1}
            allowDecimal={false}
            hideControls
            clampBehavior="none"
            thousandSeparator=","
            error={error}
            disabled={disabled}
            onChange={(next) => onChange({ perMinute: typeof next === 'number' ? next : undefined })}
          />
        )}
      </div>
      <div className={classes['end']}>
        {action !== 'allow' && (
          <Checkbox
            label={t('crawlers.fields.monitor')}
            checked={monitor}
            disabled={disabled}
            onChange={({ currentTarget }) => onChange({ monitor: currentTarget.checked })}
          />
        )}
        <RuleMatchCount matches={matches} id={saved?.id ?? null} hasTitle />
      </div>
      {warning && <p className={classes['warning']}>{t(`crawlers.warnings.${warning}`)}</p>}
    </li>
  );
}

function warningOf({ category, action, monitor }: Draft): 'search' | 'challenge' | null {
  if (monitor) return null;
  if (category === 'search' && (action === 'block' || action === 'pay')) return 'search';
  return action === 'challenge' ? 'challenge' : null;
}
