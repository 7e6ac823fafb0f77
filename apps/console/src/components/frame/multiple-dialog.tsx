import { Button, Modal } from '@mantine/core';
import { useMultiple, withCode, type Multiple } from '../../lib/errors.ts';
import { useT } from '../../lib/i18n.ts';
import { placeOf } from '../resource-table/reveal.ts';
import classes from './frame.module.css';

/** Shows error 101009: each code with the rejected entries, which link to their rows. */
export function MultipleDialog() {
  const t = useT();
  const entries = useMultiple((state) => state.entries);
  const close = () => useMultiple.setState({ entries: null });
  return (
    <Modal
      opened={entries !== null}
      onClose={close}
      title={t('frame.multiple')}
      centered
      zIndex={330}
      closeButtonProps={{ 'aria-label': t('common.close') }}
    >
      {entries?.map((entry, i) => (
        <Refused key={i} entry={entry} onLeave={close} />
      ))}
      <div className="dialog-buttons">
        <Button onClick={close} data-autofocus>
          {t('common.ok')}
        </Button>
      </div>
    </Modal>
  );
}

function Refused({ entry: { code, text, targets }, onLeave }: { entry: Multiple; onLeave: () => void }) {
  return (
    <section className={classes['refused']}>
      <h3>{withCode({ text, code })}</h3>
      <ul>
        {targets.map((target) => (
          <li key={target}>
            <Target name={target} onLeave={onLeave} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Target({ name, onLeave }: { name: string; onLeave: () => void }) {
  const go = placeOf(name);
  if (!go) return name;
  const leave = () => {
    onLeave();
    // The dialog first returns focus to its opener.
    setTimeout(go, 200);
  };
  return (
    <button type="button" className={classes['target']} onClick={leave}>
      {name}
    </button>
  );
}
