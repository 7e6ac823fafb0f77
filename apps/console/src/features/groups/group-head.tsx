import { groups } from '@edgeloom/contract/groups/groups.endpoints.ts';
import { Menu } from '@mantine/core';
import { IconDots } from '@tabler/icons-react';
import { useConfirm } from '../../components/confirm/confirm.tsx';
import { useOverlay } from '../../components/overlay/overlay.tsx';
import { StatusMark } from '../../components/status/status-mark.tsx';
import { count, time } from '../../lib/format.ts';
import { useT } from '../../lib/i18n.ts';
import { useAction } from '../../lib/use-endpoint.ts';
import { useCan } from '../../lib/use-can.ts';
import { standingOf, toneOfGroup, type BoardGroup } from './board.ts';
import { GroupForm } from './group-form.tsx';
import classes from './groups.module.css';

/** Column head of a group: its current answer and actions. */
export function GroupHead({ zoneId, group }: { zoneId: string; group: BoardGroup }) {
  const t = useT();
  const can = useCan();
  const overlay = useOverlay();
  const confirm = useConfirm();
  const force = useAction(groups.forceBackup);
  const remove = useAction(groups.remove, { done: 'common.removed', refreshes: ['products'] });
  const params = { zoneId, groupId: group.id };
  const isForced = group.forcedAt !== null;

  async function turn() {
    const isSure =
      isForced ||
      (await confirm({
        title: t('groups.forceTitle', { name: group.name }),
        points: [t('groups.forcePoint', { backup: group.backupGroupName ?? '' })],
        verb: t('groups.force'),
      }));
    if (isSure) await force.run({ params, body: { enabled: !isForced } });
  }
  async function drop() {
    const points = [t('groups.removePoint')];
    if (await confirm({ title: t('groups.removeTitle', { name: group.name }), points, verb: t('common.remove') }))
      await remove.run({ params: { zoneId }, body: { ids: [group.id] } });
  }
  return (
    <div className={classes['group']}>
      <StatusMark tone={toneOfGroup(group)} label={t(`groups.states.${standingOf(group)}`)} />
      <b>{group.name}</b>
      {can(groups.update) && (
        <Menu position="bottom-end" withinPortal>
          <Menu.Target>
            <button type="button" className={classes['tool']} aria-label={t('groups.more', { name: group.name })}>
              <IconDots size={16} stroke={1.6} />
            </button>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item onClick={() => overlay(<GroupForm zoneId={zoneId} value={group} />, { title: 'groups.edit' })}>
              {t('common.edit')}
            </Menu.Item>
            <Menu.Item disabled={group.backupGroupID === null} onClick={() => void turn()}>
              {t(isForced ? 'groups.lift' : 'groups.force')}
              {group.backupGroupID === null && <small className={classes['why']}>{t('groups.noBackup')}</small>}
            </Menu.Item>
            <Menu.Item color="var(--el-bad-text)" onClick={() => void drop()}>
              {t('common.remove')}
            </Menu.Item>
          </Menu.Dropdown>
        </Menu>
      )}
      <small>
        {t('groups.facts', { count: group.siteCount, sites: count(group.siteCount), priority: group.priority })}
      </small>
      {group.serverIP.length > 0 && (
        <small title={group.serverIP.join(t('common.comma'))}>
          {t('groups.serverIP', { addresses: firstOf(group.serverIP) })}
        </small>
      )}
      {isForced ? (
        <small data-tone="warn">
          {t('groups.forcedSince', { time: time(group.forcedAt) })}
          {group.state !== 'forced' && ` · ${t('groups.forcedInVain')}`}
        </small>
      ) : (
        <small>
          {group.backupGroupName === null ? t('groups.noBackup') : t('groups.backup', { name: group.backupGroupName })}
        </small>
      )}
      {group.state !== 'ok' && group.state !== 'forced' && (
        <small data-tone={toneOfGroup(group)}>{t(`groups.states.${standingOf(group)}`)}</small>
      )}
    </div>
  );
}

/** The first address, and the number of others. */
const firstOf = ([first = '', ...others]: readonly string[]) =>
  others.length > 0 ? `${first} +${others.length}` : first;
