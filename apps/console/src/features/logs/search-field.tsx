import { TextInput } from '@mantine/core';
import { IconSearch } from '@tabler/icons-react';
import { useState } from 'react';
import { Kbd } from '../../components/values/values.tsx';
import { useT } from '../../lib/i18n.ts';
import { inWords } from './filters.ts';
import { readSearch } from './read-search.ts';
import classes from './logs.module.css';

/** Enter turns the text into filters, or opens a request. A line below previews the result. */
export function SearchField({ onFind }: { onFind: (text: string) => void }) {
  const t = useT();
  const [text, setText] = useState('');
  const asked = readSearch(text);
  const meaning =
    asked === null
      ? null
      : 'request' in asked
        ? t('logs.openRequest')
        : asked.filters.map(({ key, value }) => inWords(key, false, value)).join(t('common.comma'));
  return (
    <div className={classes['search']}>
      <TextInput
        type="search"
        size="xs"
        aria-label={t('logs.search')}
        placeholder={t('logs.search')}
        aria-describedby="log-search-meaning"
        value={text}
        maxLength={512}
        autoComplete="off"
        spellCheck={false}
        leftSection={<IconSearch size={14} stroke={1.6} />}
        rightSection={text === '' && <Kbd>/</Kbd>}
        onChange={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.nativeEvent.isComposing) return;
          if (event.key === 'Enter') {
            onFind(text);
            setText('');
          } else if (event.key === 'Escape') {
            event.preventDefault();
            setText('');
            event.currentTarget.blur();
          }
        }}
      />
      <output id="log-search-meaning" className={classes['meaning']} hidden={meaning === null}>
        <Kbd>↵</Kbd> {meaning}
      </output>
    </div>
  );
}
