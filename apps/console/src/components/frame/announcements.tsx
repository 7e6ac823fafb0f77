import { announcements } from '@edgeloom/contract/announcements/announcements.endpoints.ts';
import { ActionIcon, Indicator, Popover } from '@mantine/core';
import { IconSpeakerphone } from '@tabler/icons-react';
import { useState } from 'react';
import { useT } from '../../lib/i18n.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { useSession } from '../../stores/session.ts';
import { AnnouncementList } from './announcement-list.tsx';
import classes from './announcements.module.css';

const kept = (accountId: string) => `edgeloom.announcements.${accountId}`;

function readBefore(accountId: string): ReadonlySet<string> {
  return new Set((localStorage.getItem(kept(accountId)) ?? '').split(' ').filter(Boolean));
}

/** The megaphone: a dot while something is unread. What is new opens by itself, once, beside the work and never over it. */
export function Announcements() {
  const accountId = useSession(({ account }) => account?.id);
  return accountId === undefined ? null : <Megaphone key={accountId} accountId={accountId} />;
}

function Megaphone({ accountId }: { accountId: string }) {
  const t = useT();
  const { data } = useEndpoint(announcements.list, {}, { pollMs: 300_000 });
  const [read, setRead] = useState(() => readBefore(accountId));
  const [asked, setAsked] = useState(false);
  const shown = data?.data ?? [];
  const unread = shown.filter(({ id }) => !read.has(id));
  const opened = asked || unread.length > 0;

  const close = () => {
    setAsked(false);
    // Those that are gone are forgotten with it.
    const now = new Set(shown.map(({ id }) => id));
    localStorage.setItem(kept(accountId), [...now].join(' '));
    setRead(now);
  };
  if (data === undefined) return null;
  const label = t('announcementSetting.megaphone', { count: unread.length });
  return (
    <Popover opened={opened} onChange={(open) => !open && close()} position="bottom-end" width={340} returnFocus>
      <Indicator disabled={unread.length === 0} color="red" size={7} offset={8}>
        <Popover.Target>
          <ActionIcon
            className={classes['megaphone'] ?? ''}
            aria-label={label}
            aria-haspopup="dialog"
            aria-expanded={opened}
            onClick={() => (opened ? close() : setAsked(true))}
          >
            <IconSpeakerphone size={16} stroke={1.6} />
          </ActionIcon>
        </Popover.Target>
      </Indicator>
      <Popover.Dropdown p={0} aria-label={t('announcementSetting.title')}>
        <AnnouncementList of={unread.length > 0 && !asked ? unread : shown} onClose={close} />
      </Popover.Dropdown>
    </Popover>
  );
}
