import { zones } from '@edgeloom/contract/zones/zones.endpoints.ts';
import { Checkbox, Loader, SegmentedControl } from '@mantine/core';
import { useState } from 'react';
import { ChoiceField } from '../../components/fields/choice-field.tsx';
import { NumberField } from '../../components/fields/number-field.tsx';
import { PasswordField } from '../../components/fields/password-field.tsx';
import { SelectMetaField } from '../../components/fields/select-meta-field.tsx';
import { TextField } from '../../components/fields/text-field.tsx';
import { Fact, Facts } from '../../components/page/facts.tsx';
import { useField } from '../../components/resource-form/form-state.ts';
import { CodeBox } from '../../components/values/code-box.tsx';
import { useT } from '../../lib/i18n.ts';
import classes from './node-jobs.module.css';

/** Over SSH, or by a command on the machine. */
export type Way = 'ssh' | 'line';

interface AddressProps {
  way: Way;
  onWay: (way: Way) => void;
  /** The method cannot change once installation has started. */
  fixed: boolean;
  /** A stored credential is used unless another one is typed. */
  isStored: boolean;
}

export function AddressFields({ way, onWay, fixed, isStored }: AddressProps) {
  const t = useT();
  const [by, setBy] = useState('password');
  return (
    <>
      {!fixed && (
        <SegmentedControl
          aria-label={t('nodes.join.way')}
          value={way}
          onChange={(chosen) => onWay(chosen === 'line' ? 'line' : 'ssh')}
          data={[
            { value: 'ssh', label: t('nodes.join.ssh') },
            { value: 'line', label: t('nodes.join.line') },
          ]}
        />
      )}
      <TextField name="ip" />
      <TextField name="name" />
      {way === 'ssh' && (
        <>
          <NumberField name="port" min={1} max={65_535} plain />
          <TextField name="user" mono />
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
          {isStored && <p className={classes['why']}>{t('nodeJobs.stored')}</p>}
        </>
      )}
    </>
  );
}

interface HostKeyProps {
  looking: boolean;
  /** Host key that the machine presents. */
  shown: string | null;
  /** Confirmed host key, if the machine still presents it. */
  pinned: string | null;
  isOther: boolean;
}

/** The machine presents its host key before a credential is sent; the operator confirms it. */
export function HostKey({ looking, shown, pinned, isOther }: HostKeyProps) {
  const t = useT();
  return (
    <>
      {looking && (
        <p className={classes['looking']}>
          <Loader size={14} /> {t('nodeJobs.looking')}
        </p>
      )}
      {shown !== null && (
        <>
          <code className={classes['key']}>{shown}</code>
          {pinned === null || isOther ? (
            <>
              <p className={classes['why']}>{t(isOther ? 'nodeJobs.otherKeyHint' : 'nodeJobs.compare')}</p>
              <CodeBox text="ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub" />
            </>
          ) : (
            <p className={classes['why']}>{t('nodeJobs.sameKey')}</p>
          )}
        </>
      )}
    </>
  );
}

interface PlaceProps {
  /** Zone of an existing node, which another call moves. */
  fixedZone: string | null;
  /** Null without a credential. */
  keepSSH: boolean | null;
  onKeepSSH: (keep: boolean) => void;
}

export function PlaceFields({ fixedZone, keepSSH, onKeepSSH }: PlaceProps) {
  const t = useT();
  return (
    <>
      {fixedZone === null ? (
        <SelectMetaField name="zoneID" meta={zones.meta} />
      ) : (
        <Facts>
          <Fact term={t('nodes.fields.zoneName')}>{fixedZone}</Fact>
        </Facts>
      )}
      <ChoiceField name="kind" segmented />
      <RelayPort />
      <ChoiceField name="role" segmented />
      <ChoiceField name="portType" segmented />
      <NumberField name="bandwidthMbps" min={0} suffix=" Mbps" />
      {keepSSH !== null && (
        <Checkbox
          label={t('nodeJobs.keep')}
          description={t('nodeJobs.keepWhy')}
          checked={keepSSH}
          onChange={(event) => onKeepSSH(event.currentTarget.checked)}
        />
      )}
    </>
  );
}

const RelayPort = () => useField('kind').value === 'relay' && <NumberField name="relayPort" plain />;
