import type { domainUpstreams } from '@edgeloom/contract/domains/domains.endpoints.ts';
import type { Received } from '@edgeloom/contract/endpoint.ts';
import { ActionIcon, Button, Menu, NumberInput, Switch, TextInput, UnstyledButton } from '@mantine/core';
import { IconPlus, IconX } from '@tabler/icons-react';
import { Pill, Status } from '../../components/status/status.tsx';
import { Nothing } from '../../components/values/values.tsx';
import { useT } from '../../lib/i18n.ts';
import { newOrigin, type Origin, type Scheme } from './origins-draft.ts';
import classes from './domains.module.css';

interface OriginsTableProps {
  origins: Origin[];
  scheme: Scheme;
  locked: boolean;
  onChange: (origins: Origin[]) => void;
  fault: (path: string) => string | undefined;
  noneOn?: string;
  /** What active checks found lately; left out where there are none. */
  health?: readonly Health[];
}
type Health = Received<typeof domainUpstreams.health>['data'][number];

/** The origins of a domain, edited where they stand. */
export function OriginsTable({ origins, scheme, locked, onChange, fault, noneOn, health }: OriginsTableProps) {
  const t = useT();
  const backups = origins.filter(({ backup }) => backup).length;
  const summary =
    backups > 0
      ? t('domains.origins.summaryBackup', { count: origins.length, backup: backups })
      : t('domains.origins.summary', { count: origins.length });
  return (
    <section className={classes['origins']}>
      <header className={classes['originsHead']}>
        <h2 className={classes['blockTitle']}>{t('domains.origins.title')}</h2>
        <span className={classes['summary']}>{summary}</span>
        {!locked && (
          <Button
            size="xs"
            variant="default"
            className={classes['push'] ?? ''}
            leftSection={<IconPlus size={14} stroke={1.8} />}
            onClick={() => onChange([...origins, newOrigin(scheme)])}
          >
            {t('domains.origins.add')}
          </Button>
        )}
      </header>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a region that scrolls must be reached by keyboard */}
      <section className={classes['scroll']} tabIndex={0} aria-label={t('domains.origins.table')}>
        <table className={classes['table']} data-health={health !== undefined || undefined}>
          <thead>
            <tr>
              <th scope="col">{t('domains.fields.address')}</th>
              <th scope="col" className={classes['number']}>
                {t('domains.fields.port')}
              </th>
              <th scope="col">{t('domains.fields.weight')}</th>
              <th scope="col">{t('domains.fields.backup')}</th>
              {health && (
                <>
                  <th scope="col">{t('domains.health.state')}</th>
                  <th scope="col" className={classes['number']}>
                    {t('domains.health.firstByte')}
                  </th>
                </>
              )}
              <th scope="col">{t('domains.fields.enabled')}</th>
              <th scope="col">
                <span className="hidden-text">{t('common.remove')}</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {origins.map((origin, i) => (
              <OriginRow
                key={origin.key}
                n={i + 1}
                origin={origin}
                locked={locked}
                last={origins.length === 1}
                {...(health && { health: health.find(({ upstreamID }) => upstreamID === origin.id) ?? null })}
                fault={(field) => fault(`origins.${origin.key}.${field}`)}
                onChange={(part) => onChange(origins.with(i, { ...origin, ...part }))}
                onRemove={() => onChange(origins.toSpliced(i, 1))}
              />
            ))}
          </tbody>
        </table>
      </section>
      <p className={classes['note']} {...(noneOn && { role: 'alert', 'data-bad': true })}>
        {noneOn ?? t('domains.origins.rule')}
      </p>
    </section>
  );
}

interface OriginRowProps {
  n: number;
  origin: Origin;
  locked: boolean;
  last: boolean;
  /** Null: nothing was found yet. Left out: nobody looks. */
  health?: Health | null;
  fault: (field: string) => string | undefined;
  onChange: (part: Partial<Origin>) => void;
  onRemove: () => void;
}

function OriginRow({ n, origin, locked, last, health, fault, onChange, onRemove }: OriginRowProps) {
  const t = useT();
  const { address, port, weight, backup, enabled } = origin;
  return (
    <tr data-off={!enabled || undefined}>
      <td>
        <TextInput
          classNames={{ input: classes['cellInput'] ?? '' }}
          aria-label={t('domains.origins.addressOf', { n })}
          placeholder="203.0.113.24"
          value={address}
          disabled={locked}
          // oxlint-disable-next-line jsx-a11y/no-autofocus -- a row that was just asked for
          autoFocus={origin.id === null && address === ''}
          spellCheck={false}
          error={fault('address')}
          onChange={(event) => onChange({ address: event.currentTarget.value.trim() })}
        />
      </td>
      <td className={classes['number']}>
        <NumberInput
          classNames={{ input: classes['cellInput'] ?? '' }}
          aria-label={t('domains.origins.portOf', { n })}
          value={port}
          hideControls
          allowDecimal={false}
          disabled={locked}
          error={fault('port')}
          onChange={(value) => onChange({ port: Number(value) })}
        />
      </td>
      <td>
        {backup ? (
          <span className={classes['noShare']}>{t('domains.origins.noShare')}</span>
        ) : (
          <span className={classes['weight']}>
            <svg className={classes['share']} viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden>
              <rect width="100" height="4" rx="2" />
              <rect data-filled width={Math.min(100, Math.max(0, weight))} height="4" rx="2" />
            </svg>
            <NumberInput
              classNames={{ input: classes['cellInput'] ?? '' }}
              aria-label={t('domains.origins.weightOf', { n })}
              value={weight}
              min={1}
              max={100}
              hideControls
              allowDecimal={false}
              clampBehavior="none"
              disabled={locked}
              error={fault('weight')}
              onChange={(value) => onChange({ weight: Number(value) })}
            />
          </span>
        )}
      </td>
      {/* oxlint-disable-next-line jsx-a11y/control-has-associated-label -- what is in the cell has its own label */}
      <td>
        <Menu position="bottom-start" disabled={locked}>
          <Menu.Target>
            <UnstyledButton
              className={classes['role'] ?? ''}
              aria-label={`${t('domains.origins.roleOf', { n })}${t('common.colon')}${t(backup ? 'domains.origins.backup' : 'domains.origins.main')}`}
              disabled={locked}
            >
              {backup ? <Pill tone="held">{t('domains.origins.backup')}</Pill> : t('domains.origins.main')}
            </UnstyledButton>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item onClick={() => onChange({ backup: false })}>{t('domains.origins.main')}</Menu.Item>
            <Menu.Item onClick={() => onChange({ backup: true })}>{t('domains.origins.backup')}</Menu.Item>
          </Menu.Dropdown>
        </Menu>
      </td>
      {health !== undefined && <HealthCells health={enabled ? health : null} />}
      <td>
        <Switch
          aria-label={t('domains.origins.on', { address: address || t('domains.origins.newOrigin') })}
          checked={enabled}
          disabled={locked}
          onChange={(event) => onChange({ enabled: event.currentTarget.checked })}
        />
      </td>
      <td className={classes['end']}>
        {!locked && !last && (
          <ActionIcon
            aria-label={t('domains.origins.remove', { address: address || t('domains.origins.newOrigin') })}
            onClick={onRemove}
          >
            <IconX size={15} stroke={1.6} />
          </ActionIcon>
        )}
      </td>
    </tr>
  );
}

/** Seen by all nodes together. */
function HealthCells({ health }: { health: Health | null }) {
  const t = useT();
  if (health === null)
    return (
      <>
        <td>
          <Status kind="origin" value="unknown" />
        </td>
        <td className={classes['number']}>
          <Nothing />
        </td>
      </>
    );
  const { up, down, reason, tookMs } = health;
  const nodes = up + down;
  return (
    <>
      <td className={classes['healthCell']}>
        <Status
          kind="origin"
          value={down === 0 ? 'up' : up === 0 ? 'down' : 'partly'}
          {...(down > 0 && up > 0 && { text: t('domains.health.downOn', { count: down, nodes }) })}
          why={reason}
        />
      </td>
      <td className={classes['number']}>{t('domains.health.milliseconds', { count: tookMs })}</td>
    </>
  );
}
