import { Button, Modal } from '@mantine/core';
import { useMultiple, withCode } from '../../lib/errors.ts';
import { useT } from '../../lib/i18n.ts';
import classes from './frame.module.css';

/** What 101009 opens: each code with the entries it refused. */
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
      closeButtonProps={{ 'aria-label': t('common.close') }}
    >
      {entries?.map(({ code, text, targets }, i) => (
        <section key={i} className={classes['refused']}>
          <h3>{withCode({ text, code })}</h3>
          <ul>
            {targets.map((target) => (
              <li key={target}>{target}</li>
            ))}
          </ul>
        </section>
      ))}
      <div className="dialog-buttons">
        <Button onClick={close}>{t('common.ok')}</Button>
      </div>
    </Modal>
  );
}
