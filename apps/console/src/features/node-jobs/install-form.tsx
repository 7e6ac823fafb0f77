import { nodeJobs } from '@edgeloom/contract/node-jobs/node-jobs.endpoints.ts';
import { NodeJobsStarted } from '@edgeloom/contract/node-jobs/node-jobs.ts';
import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { NodeSSHInput } from '@edgeloom/contract/nodes/nodes.ts';
import { Button, Checkbox, SegmentedControl } from '@mantine/core';
import { IconFingerprint } from '@tabler/icons-react';
import { useState } from 'react';
import { useNavigate } from 'react-router-dom';
import { NumberField } from '../../components/fields/number-field.tsx';
import { PasswordField } from '../../components/fields/password-field.tsx';
import { TextField } from '../../components/fields/text-field.tsx';
import { useOverlayClose } from '../../components/overlay/overlay.tsx';
import { useField } from '../../components/resource-form/form-state.ts';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import { to } from '../../lib/family.ts';
import { useT } from '../../lib/i18n.ts';
import { useAction } from '../../lib/use-endpoint.ts';
import type { EdgeNode } from '../nodes/node-states.ts';
import classes from './node-jobs.module.css';

export type Installable = Pick<EdgeNode, 'id' | 'name' | 'ip' | 'ssh'>;

/** How the machine is reached, its key compared, and on to the steps. */
export function InstallForm({ node }: { node: Installable }) {
  const t = useT();
  const close = useOverlayClose();
  const navigate = useNavigate();
  const [keepSSH, setKeepSSH] = useState(false);
  const begin = useAction(nodeJobs.initialize);
  const onStored = async () => {
    const started = await begin.run({ body: { ids: [node.id], keepSSH } });
    const [jobID] = NodeJobsStarted.safeParse(started).data?.jobIDs ?? [];
    if (jobID === undefined) return;
    close();
    await navigate(to(`nodeManage/nodesList/${node.id}/job/${jobID}`));
  };
  return (
    <ResourceForm
      update={nodes.update}
      words="nodeJobs"
      value={{ port: node.ssh?.port ?? 22, user: node.ssh?.user ?? 'root', fingerprint: node.ssh?.fingerprint ?? null }}
      schema={NodeSSHInput}
      wrap={(ssh) => ({ id: node.id, ssh })}
      submitLabel="nodeJobs.install"
      onDone={() => void onStored()}
    >
      <p className={classes['lead']}>{t('nodeJobs.lead', { name: node.name, ip: node.ip })}</p>
      <NumberField name="port" min={1} max={65_535} plain />
      <TextField name="user" mono />
      <Credential />
      <HostKey ip={node.ip} />
      <Checkbox
        label={t('nodeJobs.keep')}
        description={t('nodeJobs.keepWhy')}
        checked={keepSSH}
        onChange={(event) => setKeepSSH(event.currentTarget.checked)}
      />
    </ResourceForm>
  );
}

function Credential() {
  const t = useT();
  const [by, setBy] = useState('password');
  return (
    <>
      <SegmentedControl
        aria-label={t('nodeJobs.by')}
        value={by}
        onChange={setBy}
        data={[
          { value: 'password', label: t('nodeJobs.fields.password') },
          { value: 'key', label: t('nodeJobs.fields.privateKey') },
        ]}
      />
      {by === 'key' && <TextField name="privateKey" long mono placeholder="-----BEGIN OPENSSH PRIVATE KEY-----" />}
      <PasswordField name="password" fresh />
    </>
  );
}

/** Shown by the machine before anybody signs in; whoever compares it knows that it is theirs. */
function HostKey({ ip }: { ip: string }) {
  const t = useT();
  const { value, set } = useField('fingerprint');
  const port = useField('port').value;
  const { run, running } = useAction(nodeJobs.hostKey);
  const look = async () => {
    const found = await run({ body: { ip, port: typeof port === 'number' ? port : 22 } });
    if (found) set(found.fingerprint);
  };
  return (
    <div className={classes['hostKey']}>
      <div className={classes['name']}>{t('nodeJobs.hostKey')}</div>
      {typeof value === 'string' ? (
        <>
          <code className={classes['key']}>{value}</code>
          <span className={classes['why']}>{t('nodeJobs.compare')}</span>
          <Button variant="subtle" size="compact-sm" onClick={() => set(null)}>
            {t('nodeJobs.forgetKey')}
          </Button>
        </>
      ) : (
        <>
          <span className={classes['why']}>{t('nodeJobs.noKey')}</span>
          <Button
            variant="default"
            size="compact-sm"
            leftSection={<IconFingerprint size={14} stroke={1.6} />}
            loading={running}
            onClick={() => void look()}
          >
            {t('nodeJobs.look')}
          </Button>
        </>
      )}
    </div>
  );
}
