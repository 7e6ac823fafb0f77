import { domains } from '@edgeloom/contract/domains/domains.endpoints.ts';
import type { Received } from '@edgeloom/contract/endpoint.ts';
import { errors } from '@edgeloom/contract/errors.ts';
import { Button, FileButton, Textarea } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { IconFileText } from '@tabler/icons-react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useDeferredValue, useMemo } from 'react';
import { call } from '../../lib/api.ts';
import { explainCode, ruleText } from '../../lib/errors.ts';
import { useT } from '../../lib/i18n.ts';
import { keyOf } from '../../lib/queries.ts';
import classes from './add-domains.module.css';
import { NameList } from './name-list.tsx';
import { cleanNames, countRepeated, isGood, judgeName, verdictWord, type JudgedName } from './names.ts';

/** Maximum per validation call. */
const MAX_NAMES = 1000;
const REST_MS = 500;

/** Lines of the text, validated locally at once and by the server when typing stops. */
export function useNameVerdicts(siteId: string, text: string, refused: ReadonlyMap<string, string>) {
  const t = useT();
  const later = useDeferredValue(text);
  const verdicts = useMemo(() => cleanNames(later).map((name) => ({ name, verdict: judgeName(name) })), [later]);
  const good = verdicts.filter(({ verdict }) => isGood(verdict)).map(({ name }) => name);
  const [asked] = useDebouncedValue(good.join('\n'), REST_MS);
  const { data } = useQuery({
    queryKey: keyOf(domains.refusals, { siteId, asked }),
    queryFn: ({ signal }) => refusalsOf(siteId, asked.split('\n'), signal),
    enabled: asked !== '',
    placeholderData: keepPreviousData,
  });
  const why = (code: number, rule: string | undefined) => {
    if (code === errors.DUPLICATED.code) return t('domains.add.verdicts.exists');
    return rule === undefined ? explainCode(code) : ruleText(rule, '');
  };
  const known = new Map((data ?? []).map(({ name, code, rule }) => [name, why(code, rule)]));
  const lines = verdicts.map(({ name, verdict }): JudgedName => {
    const fault = isGood(verdict) ? (refused.get(name) ?? known.get(name) ?? null) : t(verdictWord[verdict]);
    return { name, verdict, fault };
  });
  return { lines, repeated: countRepeated(later) };
}

/** Validates in batches, one after the other. */
async function refusalsOf(siteId: string, names: readonly string[], signal: AbortSignal) {
  const refusals: Received<typeof domains.refusals>['data'] = [];
  for (let from = 0; from < names.length; from += MAX_NAMES) {
    const body = { names: names.slice(from, from + MAX_NAMES) };
    refusals.push(...(await call(domains.refusals, { params: { siteId }, body }, { signal })).data);
  }
  return refusals;
}

interface NamesStepProps {
  text: string;
  lines: readonly JudgedName[];
  repeated: number;
  error: string | false;
  onChange: (text: string) => void;
}

export function NamesStep({ text, lines, repeated, error, onChange }: NamesStepProps) {
  const t = useT();
  const names = () => cleanNames(text);
  const read = async (file: File | null) => {
    if (file) onChange([...names(), ...cleanNames(await file.text())].join('\n'));
  };
  return (
    <div className={classes['names']}>
      <div className={classes['box']}>
        <Textarea
          label={t('domains.fields.names')}
          description={t('domains.add.namesWhy')}
          placeholder={'www.example.com\n*.example.com'}
          classNames={{ input: classes['text'] ?? '' }}
          rows={12}
          spellCheck={false}
          autoCapitalize="off"
          // oxlint-disable-next-line jsx-a11y/no-autofocus -- this field is the purpose of the page
          autoFocus
          value={text}
          error={error}
          onChange={(event) => onChange(event.currentTarget.value)}
          // Clean up the pasted list on blur, not while typing.
          onBlur={() => onChange(names().join('\n'))}
        />
        <FileButton accept=".txt,.csv,text/plain,text/csv" onChange={(file) => void read(file)}>
          {(props) => (
            <Button {...props} size="xs" variant="default" leftSection={<IconFileText size={14} stroke={1.6} />}>
              {t('domains.add.file')}
            </Button>
          )}
        </FileButton>
      </div>
      {lines.length > 0 && (
        <NameList
          lines={lines}
          repeated={repeated}
          onRemove={(gone) =>
            onChange(
              names()
                .filter((name) => !gone.has(name))
                .join('\n'),
            )
          }
        />
      )}
    </div>
  );
}
