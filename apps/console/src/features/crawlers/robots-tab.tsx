import { robots } from '@edgeloom/contract/robots/robots.endpoints.ts';
import { noTrainingGroup, RobotsInput, robotsText, type RobotsGroup } from '@edgeloom/contract/robots/robots.ts';
import { Button, NumberInput } from '@mantine/core';
import { IconPlus, IconX } from '@tabler/icons-react';
import { useState } from 'react';
import * as z from 'zod';
import { LinesField } from '../../components/fields/lines-field.tsx';
import { LinesInput } from '../../components/fields/lines-input.tsx';
import { wholeLinesOf, withRefused } from '../../components/fields/lines.ts';
import { SwitchField } from '../../components/fields/switch-field.tsx';
import { Section } from '../../components/page/section.tsx';
import { useField, useForm } from '../../components/resource-form/form-state.ts';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import { Await } from '../../components/states/await.tsx';
import { useT } from '../../lib/i18n.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import classes from './crawlers.module.css';

/** A group while it is edited. */
const Draft = z.object({
  agents: z.array(z.string()),
  allow: z.array(z.string()),
  disallow: z.array(z.string()),
  /** Undefined: the field holds no number. */
  crawlDelay: z.number().nullish(),
});
type Draft = z.output<typeof Draft>;
const emptyGroup: RobotsGroup = { agents: ['*'], allow: [], disallow: [], crawlDelay: null };
const lists = ['agents', 'disallow', 'allow'] as const;

/** The robots.txt of the site. */
export function RobotsTab({ params }: { params: { siteId: string } }) {
  return (
    <Await result={useEndpoint(robots.get, { params })}>
      {(value) => (
        <ResourceForm update={robots.update} params={params} value={value} refreshes={['sites']} bar preview>
          <Section title="robots.file" why="robots.fileWhy">
            <SwitchField name="enabled" />
          </Section>
          <Section title="robots.groups" why="robots.groupsWhy" wide>
            <GroupsField />
          </Section>
          <Section title="robots.more">
            <LinesField name="sitemaps" placeholder="https://www.example.com/sitemap.xml" rows={3} whole />
          </Section>
          <Section title="robots.preview" wide>
            <TextPreview />
          </Section>
        </ResourceForm>
      )}
    </Await>
  );
}

function GroupsField() {
  const t = useT();
  const { value, set, inner, input } = useField('groups');
  const groups = z.array(Draft).catch([]).parse(value);
  return (
    <>
      <ul className={classes['groups']} aria-label={input.label}>
        {groups.map((group, i) => (
          // oxlint-disable-next-line react/no-array-index-key -- a group has no name of its own
          <li key={`${groups.length} ${i}`} className={classes['group']} aria-label={t('robots.nth', { n: i + 1 })}>
            {lists.map((field) => (
              <GroupLines
                key={field}
                id={`${input.id}-${i}-${field}`}
                field={field}
                lines={group[field]}
                errors={errorsIn(inner, `${i}.${field}.`)}
                error={inner.get(`${i}.${field}`) ?? null}
                input={input}
                onChange={(next) => set(groups.with(i, { ...group, [field]: next }))}
              />
            ))}
            <NumberInput
              label={t('robots.fields.crawlDelay')}
              description={t('robots.hints.crawlDelay')}
              suffix={t('robots.units.crawlDelay')}
              value={group.crawlDelay ?? ''}
              min={1}
              allowDecimal={false}
              hideControls
              clampBehavior="none"
              error={inner.get(`${i}.crawlDelay`)}
              disabled={input.disabled}
              onChange={(next) => set(groups.with(i, { ...group, crawlDelay: typeof next === 'number' ? next : null }))}
            />
            <Button
              variant="default"
              leftSection={<IconX size={15} stroke={1.6} />}
              disabled={input.disabled}
              onClick={() => set(groups.toSpliced(i, 1))}
            >
              {t('robots.remove')}
            </Button>
          </li>
        ))}
      </ul>
      {input.error !== null && <p className={classes['warning']}>{input.error}</p>}
      <div className={classes['buttons']}>
        <Button
          variant="default"
          leftSection={<IconPlus size={15} stroke={1.8} />}
          disabled={input.disabled}
          onClick={() => set([...groups, emptyGroup])}
        >
          {t('robots.add')}
        </Button>
        <Button variant="default" disabled={input.disabled} onClick={() => set([...groups, noTrainingGroup])}>
          {t('robots.addNoTraining')}
        </Button>
      </div>
    </>
  );
}

/** Errors of the lines of a list, by the place of the line. */
const errorsIn = (inner: ReadonlyMap<string, string>, prefix: string) =>
  new Map(
    [...inner].filter(([path]) => path.startsWith(prefix)).map(([path, text]) => [path.slice(prefix.length), text]),
  );

interface GroupLinesProps {
  id: string;
  field: (typeof lists)[number];
  lines: readonly string[];
  errors: ReadonlyMap<string, string>;
  error: string | null;
  input: ReturnType<typeof useField>['input'];
  onChange: (lines: string[]) => void;
}

function GroupLines({ id, field, lines, errors, error, input, onChange }: GroupLinesProps) {
  const t = useT();
  // Keeps the text as typed, because the list drops empty lines.
  const [typed, setTyped] = useState(lines.join('\n'));
  const text = wholeLinesOf(typed).join('\n') === lines.join('\n') ? typed : lines.join('\n');
  const own = {
    ...input,
    id,
    name: field,
    label: t(`robots.fields.${field}`),
    description: t(`robots.hints.${field}`),
    error,
    required: field === 'agents',
  };
  return (
    <LinesInput
      input={own}
      text={text}
      count={lines.length}
      verdicts={withRefused(wholeLinesOf(text), [], errors)}
      rows={3}
      onChange={(next) => {
        setTyped(next);
        onChange(wholeLinesOf(next));
      }}
    />
  );
}

/** The file as it would be served. */
function TextPreview() {
  const t = useT();
  const { success, data } = RobotsInput.safeParse(useForm().values);
  if (!success) return <p>{t('robots.invalid')}</p>;
  const text = robotsText(data);
  return text === '' ? <p>{t('robots.nothing')}</p> : <pre className={classes['text']}>{text}</pre>;
}
