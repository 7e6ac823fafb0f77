import { dbBackup } from '@edgeloom/contract/db-backup/db-backup.endpoints.ts';
import type { Received } from '@edgeloom/contract/endpoint.ts';
import { Button } from '@mantine/core';
import { IconDatabaseExport } from '@tabler/icons-react';
import { ChoiceField } from '../../components/fields/choice-field.tsx';
import { NumberField } from '../../components/fields/number-field.tsx';
import { TextField } from '../../components/fields/text-field.tsx';
import { Fact, Facts } from '../../components/page/facts.tsx';
import { Section } from '../../components/page/section.tsx';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import { Await } from '../../components/states/await.tsx';
import { Status } from '../../components/status/status.tsx';
import { Bytes, Time } from '../../components/values/values.tsx';
import { percent } from '../../lib/format.ts';
import { useT } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import { useAction, useEndpoint } from '../../lib/use-endpoint.ts';
import { RootOnly } from '../system-setting/root-only.tsx';
import classes from './db-backup.module.css';

type Backup = Received<typeof dbBackup.get>;

const RUNNING_POLL_MS = 2000;
const IDLE_POLL_MS = 30_000;
const FILES_POLL_MS = 5000;

/** Backups of the database: their schedule, the state of the last one, and their files. */
export function DbBackupForm() {
  const t = useT();
  const poll = (backup: Backup | undefined) =>
    backup === undefined || backup.status === 'idle' ? IDLE_POLL_MS : RUNNING_POLL_MS;
  return (
    <Await result={useEndpoint(dbBackup.get, {}, { poll })}>
      {(value) => (
        <>
          <RootOnly title="dbBackup.schedule" why="dbBackup.why" value={t(`dbBackup.choices.period.${value.period}`)}>
            <ResourceForm update={dbBackup.update} value={value}>
              <Section title="dbBackup.schedule" why="dbBackup.why">
                <ChoiceField name="period" />
                <TextField name="time" placeholder="03:00" />
                <TextField name="path" mono />
                <NumberField name="retention" min={1} max={100} />
              </Section>
            </ResourceForm>
          </RootOnly>
          <Section title="dbBackup.last" why="dbBackup.lastWhy">
            <LastBackup of={value} />
          </Section>
          <Section title="dbBackup.files" why="dbBackup.filesWhy" wide>
            <Files />
          </Section>
        </>
      )}
    </Await>
  );
}

function LastBackup({ of }: { of: Backup }) {
  const t = useT();
  const can = useCan();
  const { run, running } = useAction(dbBackup.run, { done: 'dbBackup.started' });
  return (
    <>
      <Facts>
        <Fact term={t('dbBackup.state')}>
          <Status
            kind="dbBackup"
            value={stateOf(of)}
            {...(of.progress !== null && { text: t('dbBackup.progress', { share: percent(of.progress) }) })}
          />
        </Fact>
        <Fact term={t('dbBackup.startedAt')}>
          <Time at={of.startedAt} />
        </Fact>
        <Fact term={t('dbBackup.endedAt')}>
          <Time at={of.endedAt} />
        </Fact>
        <Fact term={t('dbBackup.nextAt')}>
          <Time at={of.nextAt} />
        </Fact>
        {of.lastError !== null && (
          <Fact term={t('dbBackup.lastError')} wide>
            <code className={classes['error']}>{of.lastError}</code>
          </Fact>
        )}
      </Facts>
      {can(dbBackup.run) && (
        <div>
          <Button
            variant="default"
            leftSection={<IconDatabaseExport size={16} stroke={1.6} />}
            loading={running}
            disabled={of.status !== 'idle'}
            onClick={() => void run()}
          >
            {t('dbBackup.run')}
          </Button>
        </div>
      )}
    </>
  );
}

function stateOf({ status, startedAt, lastError }: Backup) {
  if (status !== 'idle') return status;
  if (startedAt === null) return 'none';
  return lastError === null ? 'success' : 'fail';
}

function Files() {
  const t = useT();
  return (
    <Await result={useEndpoint(dbBackup.files, {}, { pollMs: FILES_POLL_MS })}>
      {({ data }) =>
        data.length === 0 ? (
          <p>{t('dbBackup.noFiles')}</p>
        ) : (
          <table className={classes['files']}>
            <thead>
              <tr>
                <th>{t('dbBackup.file')}</th>
                <th data-right>{t('dbBackup.bytes')}</th>
                <th>{t('dbBackup.createdAt')}</th>
              </tr>
            </thead>
            <tbody>
              {data.map(({ name, bytes, createdAt }) => (
                <tr key={name}>
                  <td>{name}</td>
                  <td data-right>
                    <Bytes of={bytes} />
                  </td>
                  <td>
                    <Time at={createdAt} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        )
      }
    </Await>
  );
}
