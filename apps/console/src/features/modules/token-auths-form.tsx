import { tokenAuths } from '@edgeloom/contract/modules/modules.endpoints.ts';
import { TokenAuthInput } from '@edgeloom/contract/modules/token-auths.ts';
import { Button } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useField } from '../../components/resource-form/form-state.ts';
import { useT } from '../../lib/i18n.ts';
import { ModuleForm } from './module-form.tsx';
import classes from './modules.module.css';
import { TokenEntryFields } from './token-entry.tsx';
import { freshEntry, type Entry, type TokenAuth } from './token-form.ts';

export function TokenAuthsForm({ siteId, value }: { siteId: string; value: TokenAuth | undefined }) {
  return (
    <ModuleForm
      kind="tokenAuth"
      endpoints={tokenAuths}
      siteId={siteId}
      value={value}
      initial={{ auths: [freshEntry()] }}
      schema={TokenAuthInput}
    >
      <EntriesField />
    </ModuleForm>
  );
}

const isEntry = (entry: unknown): entry is Entry =>
  typeof entry === 'object' && entry !== null && 'parts' in entry && 'keys' in entry;

function EntriesField() {
  const t = useT();
  const { value, set, inner, input } = useField('auths');
  const entries = Array.isArray(value) ? value.filter(isEntry) : [];
  return (
    <div>
      <p className={classes['hint']}>{t('tokenAuths.order')}</p>
      <ol className={classes['headers']} aria-label={input.label}>
        {entries.map((entry, i) => (
          <TokenEntryFields
            // oxlint-disable-next-line react/no-array-index-key -- an entry is identified by its position
            key={i}
            n={i + 1}
            entry={entry}
            fault={(field) => inner.get(`${i}.${field}`)}
            faultIn={(field) =>
              [...inner].find(([path]) => path === `${i}.${field}` || path.startsWith(`${i}.${field}.`))?.[1]
            }
            onBlur={input.onBlur}
            onChange={(part) => set(entries.with(i, { ...entry, ...part }))}
            onUp={() => set(entries.toSpliced(i, 1).toSpliced(i - 1, 0, entry))}
            onRemove={() => set(entries.toSpliced(i, 1))}
          />
        ))}
      </ol>
      <Button
        size="xs"
        variant="default"
        data-creates="tokenEntry"
        leftSection={<IconPlus size={14} stroke={1.8} />}
        onClick={() => set([...entries, freshEntry()])}
      >
        {t('tokenAuths.add')}
      </Button>
    </div>
  );
}
