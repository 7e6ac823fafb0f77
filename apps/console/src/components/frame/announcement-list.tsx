import type { announcements } from '@edgeloom/contract/announcements/announcements.endpoints.ts';
import type { Received } from '@edgeloom/contract/endpoint.ts';
import { Button } from '@mantine/core';
import { useT } from '../../lib/i18n.ts';
import { Time } from '../values/values.tsx';
import classes from './announcements.module.css';

type Shown = Received<typeof announcements.list>['data'];

/** Announcements as plain text with line breaks. */
export function AnnouncementList({ of, onClose }: { of: Shown; onClose?: () => void }) {
  const t = useT();
  return (
    <>
      {of.length === 0 && <p className={classes['none']}>{t('announcementSetting.none')}</p>}
      <ol className={classes['list']}>
        {of.map(({ id, title, content, start }) => (
          <li key={id}>
            <b>{title}</b>
            <span className={classes['time']}>
              <Time at={start} />
            </span>
            <p>{content}</p>
          </li>
        ))}
      </ol>
      {onClose && (
        <div className={classes['foot']}>
          <Button size="xs" variant="default" onClick={onClose}>
            {t('announcementSetting.read')}
          </Button>
        </div>
      )}
    </>
  );
}
