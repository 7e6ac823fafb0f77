import { ActionIcon, Button, TextInput } from '@mantine/core';
import { IconArrowsUpDown, IconPlus, IconRefresh, IconX } from '@tabler/icons-react';
import { CopyIcon } from '../../components/values/copy.tsx';
import { time } from '../../lib/format.ts';
import { useT } from '../../lib/i18n.ts';
import classes from './modules.module.css';
import { newKey, type KeyDraft } from './token-form.ts';

interface TokenKeysProps {
  n: number;
  keys: KeyDraft[];
  fault: (field: string) => string | undefined;
  onBlur: () => void;
  onChange: (keys: KeyDraft[]) => void;
}

const rank = ['primary', 'secondary'] as const;

/** At most two keys, to allow key rotation. Stored keys are never displayed. */
export function TokenKeys({ n, keys, fault, onBlur, onChange }: TokenKeysProps) {
  const t = useT();
  return (
    <div>
      <span className={classes['caption']}>{t('tokenAuths.fields.keys')}</span>
      <ul className={classes['keys']}>
        {keys.map((key, i) => (
          <li key={'id' in key ? key.id : `new ${i}`}>
            <b>{t(`tokenAuths.keys.${rank[i] ?? 'secondary'}`)}</b>
            {'id' in key ? (
              <span className={classes['stored']}>{t('tokenAuths.keys.stored', { time: time(key.createdAt) })}</span>
            ) : (
              <>
                <TextInput
                  aria-label={t('tokenAuths.nth.key', { n, k: i + 1 })}
                  autoComplete="new-password"
                  spellCheck={false}
                  classNames={{ root: classes['stored'] ?? '', input: classes['mono'] ?? '' }}
                  value={key.key}
                  error={fault(`keys.${i}.key`) ?? fault(`keys.${i}`)}
                  description={t('tokenAuths.keys.once')}
                  onBlur={onBlur}
                  onChange={({ currentTarget }) => onChange(keys.with(i, { key: currentTarget.value }))}
                />
                <CopyIcon text={key.key} name={t('tokenAuths.nth.key', { n, k: i + 1 })} />
                <ActionIcon
                  aria-label={t('tokenAuths.keys.generate')}
                  onClick={() => onChange(keys.with(i, { key: newKey() }))}
                >
                  <IconRefresh size={15} stroke={1.6} />
                </ActionIcon>
              </>
            )}
            <ActionIcon
              aria-label={t('tokenAuths.nth.removeKey', { n, k: i + 1 })}
              disabled={keys.length === 1}
              onClick={() => onChange(keys.toSpliced(i, 1))}
            >
              <IconX size={15} stroke={1.6} />
            </ActionIcon>
          </li>
        ))}
      </ul>
      {keys.length === 1 ? (
        <Button
          size="xs"
          variant="default"
          leftSection={<IconPlus size={14} stroke={1.8} />}
          onClick={() => onChange([...keys, { key: newKey() }])}
        >
          {t('tokenAuths.keys.add')}
        </Button>
      ) : (
        <Button
          size="xs"
          variant="default"
          leftSection={<IconArrowsUpDown size={14} stroke={1.8} />}
          onClick={() => onChange(keys.toReversed())}
        >
          {t('tokenAuths.keys.swap')}
        </Button>
      )}
    </div>
  );
}
