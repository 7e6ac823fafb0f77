import type { Endpoint } from '@edgeloom/contract/endpoint.ts';
import { Button, Select } from '@mantine/core';
import { useState } from 'react';
import { useOverlayClose } from '../../components/overlay/overlay.tsx';
import { useT, type Word } from '../../lib/i18n.ts';
import { useMeta } from '../../lib/use-meta.ts';
import classes from './palette.module.css';

interface PickThingProps {
  meta: Endpoint;
  label: Word;
  onPick: (thing: { id: string; name: string }) => unknown;
}

/** Asks for the site or zone of a create command. */
export function PickThing({ meta, label, onPick }: PickThingProps) {
  const t = useT();
  const close = useOverlayClose();
  const data = useMeta(meta);
  const [chosen, setChosen] = useState<string | null>(null);
  const value = chosen ?? data[0]?.value ?? null;
  return (
    <form
      className={classes['pick']}
      onSubmit={(event) => {
        event.preventDefault();
        const found = data.find((one) => one.value === value);
        if (!found) return;
        close();
        void onPick({ id: found.value, name: found.label });
      }}
    >
      <Select
        label={t(label)}
        data={data}
        value={value}
        onChange={setChosen}
        searchable
        allowDeselect={false}
        openOnFocus={false}
        limit={100}
        nothingFoundMessage={t('common.states.nothingMatches')}
        data-autofocus
      />
      <div className="dialog-buttons">
        <Button variant="default" onClick={close}>
          {t('common.cancel')}
        </Button>
        <Button type="submit" disabled={value === null}>
          {t('common.next')}
        </Button>
      </div>
    </form>
  );
}
