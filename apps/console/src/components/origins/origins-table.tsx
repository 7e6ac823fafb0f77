import type { domainUpstreams } from '@edgeloom/contract/domains/domains.endpoints.ts';
import type { Received } from '@edgeloom/contract/endpoint.ts';
import { ActionIcon, Button, Menu, NumberInput, Switch, TextInput, Tooltip, UnstyledButton } from '@mantine/core';
import { IconPlus, IconX } from '@tabler/icons-react';
import { Pill, Status } from '../status/status.tsx';
import { Nothing } from '../values/values.tsx';
import { count, percent } from '../../lib/format.ts';
import { useT } from '../../lib/i18n.ts';
import { newOrigin, type Origin } from './origins.ts';
import classes from './origins.module.css';

/** The share of failed requests from which it is amber. */
const MANY_FAILED = 0.001;

interface OriginsTableProps {
  origins: Origin[];
  /** Port of a new origin; 0 leaves it empty. */
  usualPort: number;
  locked: boolean;
  onChange: (origins: Origin[]) => void;
  fault: (path: string) => string | undefined;
  noneOn?: string;
  /** Health check results, if there are any. */
  health?: readonly Health[];
  /** Requests of the last 24 hours, of origins that have any. Null: not loaded, or not measured. */
  traffic?: readonly Traffic[] | null;
}
type Health = Received<typeof domainUpstreams.health>['data'][number];
type Traffic = Received<typeof domainUpstreams.traffic>['data'][number];

/** Inline editor of origins of a domain or forward. */
export function OriginsTable({
  origins,
  usualPort,
  locked,
  onChange,
  fault,
  noneOn,
  health,
  traffic,
}: OriginsTableProps) {
  const t = useT();
  const backups = origins.filter(({ backup }) => backup).length;
  const summary =
    backups > 0
      ? t('origins.summaryBackup', { count: origins.length, backup: backups })
      : t('origins.summary', { count: origins.length });
  return (
    <section className={classes['origins']}>
      <header className={classes['originsHead']}>
        <h2 className={classes['blockTitle']}>{t('origins.title')}</h2>
        <span className={classes['summary']}>{summary}</span>
        {!locked && (
          <Button
            size="xs"
            variant="default"
            data-creates="origin"
            className={classes['push'] ?? ''}
            leftSection={<IconPlus size={14} stroke={1.8} />}
            onClick={() => onChange([...origins, newOrigin(usualPort)])}
          >
            {t('origins.add')}
          </Button>
        )}
      </header>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a region that scrolls must be reached by keyboard */}
      <section className={classes['scroll']} tabIndex={0} aria-label={t('origins.table')}>
        <table
          className={classes['table']}
          data-health={health !== undefined || undefined}
          data-traffic={traffic !== undefined || undefined}
        >
          <thead>
            <tr>
              <th scope="col">{t('origins.fields.address')}</th>
              <th scope="col" className={classes['number']}>
                {t('origins.fields.port')}
              </th>
              <th scope="col">{t('origins.fields.weight')}</th>
              <th scope="col">{t('origins.fields.backup')}</th>
              {health && (
                <>
                  <th scope="col">{t('origins.health.state')}</th>
                  <th scope="col" className={classes['number']}>
                    {t('origins.health.firstByte')}
                  </th>
                </>
              )}
              {traffic !== undefined && (
                <th scope="col" className={classes['number']}>
                  {t('origins.traffic.failed')}
                </th>
              )}
              <th scope="col">{t('origins.fields.enabled')}</th>
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
                {...(traffic !== undefined && {
                  traffic:
                    traffic?.find(({ upstreamID }) => upstreamID === origin.id) ?? (traffic ? 'none' : 'unknown'),
                })}
                fault={(field) => fault(`origins.${origin.key}.${field}`)}
                onChange={(part) => onChange(origins.with(i, { ...origin, ...part }))}
                onRemove={() => onChange(origins.toSpliced(i, 1))}
              />
            ))}
          </tbody>
        </table>
      </section>
      <p className={classes['note']} {...(noneOn && { role: 'alert', 'data-bad': true })}>
        {noneOn ?? t('origins.rule')}
      </p>
    </section>
  );
}

interface OriginRowProps {
  n: number;
  origin: Origin;
  locked: boolean;
  last: boolean;
  /** Null without a result yet; undefined without health checks. */
  health?: Health | null;
  /** Undefined if the column is not shown. */
  traffic?: Traffic | 'none' | 'unknown';
  fault: (field: string) => string | undefined;
  onChange: (part: Partial<Origin>) => void;
  onRemove: () => void;
}

function OriginRow({ n, origin, locked, last, health, traffic, fault, onChange, onRemove }: OriginRowProps) {
  const t = useT();
  const { address, port, weight, backup, enabled } = origin;
  return (
    <tr data-off={!enabled || undefined}>
      <td className={classes['address']}>
        <TextInput
          classNames={{ input: classes['cellInput'] ?? '' }}
          aria-label={t('origins.addressOf', { n })}
          placeholder="203.0.113.24"
          value={address}
          disabled={locked}
          // oxlint-disable-next-line jsx-a11y/no-autofocus -- the user just added this row
          autoFocus={origin.id === null && address === ''}
          spellCheck={false}
          error={fault('address')}
          onChange={(event) => onChange({ address: event.currentTarget.value.trim() })}
        />
      </td>
      <td className={`${classes['number']} ${classes['port']}`}>
        <NumberInput
          classNames={{ input: classes['cellInput'] ?? '' }}
          aria-label={t('origins.portOf', { n })}
          placeholder={t('origins.fields.port')}
          // 0 means an empty cell.
          value={port || ''}
          hideControls
          allowDecimal={false}
          disabled={locked}
          error={fault('port')}
          onChange={(value) => onChange({ port: Number(value) })}
        />
      </td>
      <td className={classes['weightCell']}>
        {backup ? (
          <span className={classes['noShare']}>{t('origins.noShare')}</span>
        ) : (
          <span className={classes['weight']}>
            <svg className={classes['share']} viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden>
              <rect width="100" height="4" rx="2" />
              <rect data-filled width={Math.min(100, Math.max(0, weight))} height="4" rx="2" />
            </svg>
            <NumberInput
              classNames={{ input: classes['cellInput'] ?? '' }}
              aria-label={t('origins.weightOf', { n })}
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
      {/* oxlint-disable-next-line jsx-a11y/control-has-associated-label -- the content of the cell has its own label */}
      <td className={classes['roleCell']}>
        <Menu position="bottom-start" disabled={locked}>
          <Menu.Target>
            <UnstyledButton
              className={classes['role'] ?? ''}
              aria-label={`${t('origins.roleOf', { n })}${t('common.colon')}${t(backup ? 'origins.backup' : 'origins.main')}`}
              aria-invalid={fault('backup') !== undefined}
              disabled={locked}
            >
              {backup ? <Pill tone="held">{t('origins.backup')}</Pill> : t('origins.main')}
            </UnstyledButton>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item onClick={() => onChange({ backup: false })}>{t('origins.main')}</Menu.Item>
            <Menu.Item onClick={() => onChange({ backup: true })}>{t('origins.backup')}</Menu.Item>
          </Menu.Dropdown>
        </Menu>
        {fault('backup') && <span className={classes['fault']}>{fault('backup')}</span>}
      </td>
      {health !== undefined && <HealthCells health={enabled ? health : null} />}
      {traffic !== undefined && <FailedCell traffic={traffic} />}
      <td className={classes['onCell']}>
        <Switch
          aria-label={t('origins.on', { address: address || t('origins.newOrigin') })}
          checked={enabled}
          disabled={locked}
          onChange={(event) => onChange({ enabled: event.currentTarget.checked })}
        />
      </td>
      <td className={classes['end']}>
        {!locked && !last && (
          <ActionIcon
            aria-label={t('origins.remove', { address: address || t('origins.newOrigin') })}
            onClick={onRemove}
          >
            <IconX size={15} stroke={1.6} />
          </ActionIcon>
        )}
      </td>
    </tr>
  );
}

/** The share of requests that failed. Amber above one in a thousand. */
function FailedCell({ traffic }: { traffic: Traffic | 'none' | 'unknown' }) {
  const t = useT();
  const share = typeof traffic === 'string' ? null : traffic.failed / traffic.attempts;
  return (
    // oxlint-disable-next-line jsx-a11y/control-has-associated-label -- a cell with a number
    <td className={`${classes['number']} ${classes['failed']}`} data-label={t('origins.traffic.failed')}>
      <Tooltip
        label={
          typeof traffic === 'string'
            ? t(`origins.traffic.${traffic}`)
            : t('origins.traffic.failedOf', { failed: count(traffic.failed), attempts: count(traffic.attempts) })
        }
      >
        <span data-many={(share ?? 0) > MANY_FAILED || undefined}>{share === null ? <Nothing /> : percent(share)}</span>
      </Tooltip>
    </td>
  );
}

/** Combined result of all nodes. */
function HealthCells({ health }: { health: Health | null }) {
  const t = useT();
  if (health === null)
    return (
      <>
        <td className={classes['healthCell']}>
          <Status kind="origin" value="unknown" />
        </td>
        <td className={`${classes['number']} ${classes['firstByte']}`}>
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
          {...(down > 0 && up > 0 && { text: t('origins.health.downOn', { count: down, nodes }) })}
          why={reason}
        />
      </td>
      <td className={`${classes['number']} ${classes['firstByte']}`}>
        {t('origins.health.milliseconds', { count: tookMs })}
      </td>
    </>
  );
}
