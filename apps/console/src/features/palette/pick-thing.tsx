import type { Endpoint } from '@edgeloom/contract/endpoint.ts';
import { Button } from '@mantine/core';
import { useState } from 'react';
import { MetaSelect } from '../../components/fields/meta-select.tsx';
import { useOverlayClose } from '../../components/overlay/overlay.tsx';
import { useT, type Word } from '../../lib/i18n.ts';
import { useMetaSearch } from '../../lib/use-meta.ts';
import classes from './palette.module.css';

const none = {};

export interface Question {
  /** Lists the objects to choose from. */
  meta: Endpoint;
  params?: Readonly<Record<string, string>>;
  query?: Readonly<Record<string, unknown>>;
  label: Word;
  onPick: (thing: { id: string; name: string }) => unknown;
}

/** Asks for the object that a create command adds to. */
export function PickThing({ meta, params, query = none, label, onPick }: Question) {
  const t = useT();
  const close = useOverlayClose();
  const [value, setValue] = useState<string | null>(null);
  const choices = useMetaSearch(meta, { params, query, chosen: value === null ? [] : [value] });
  const [first] = choices.page;
  if (value === null && first) setValue(first.value);
  const isEmpty = choices.question === '' && !choices.loading && choices.total === 0;
  const chosen = choices.chosen.find((one) => one.value === value);
  return (
    <form
      className={classes['pick']}
      onSubmit={(event) => {
        event.preventDefault();
        if (!chosen) return;
        close();
        void onPick({ id: chosen.value, name: chosen.label });
      }}
    >
      <MetaSelect
        label={t(label)}
        choices={choices}
        value={value}
        onChange={setValue}
        allowDeselect={false}
        openOnFocus={false}
        {...(isEmpty && { description: t('palette.none') })}
        data-autofocus
      />
      <div className="dialog-buttons">
        <Button variant="default" onClick={close}>
          {t('common.cancel')}
        </Button>
        <Button type="submit" disabled={!chosen}>
          {t('common.next')}
        </Button>
      </div>
    </form>
  );
}
