import { zones } from '@edgeloom/contract/zones/zones.endpoints.ts';
import { Checkbox, Loader, SegmentedControl } from '@mantine/core';
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
import type { InstallForm } from './use-install-form.ts';

interface AddressProps {
  form: InstallForm;
  /** The method cannot change once installation has started. */
  isFixed: boolean;
  /** A stored credential is used unless another one is typed. */
  isStored: boolean;
}

export function AddressFields({ form, isFixed, isStored }: AddressProps) {
  return (
    <>
      {!isFixed && <MethodChoice form={form} />}
      <TextField name="ip" />
      <TextField name="name" />
      {form.method === 'ssh' && <LoginFields form={form} isStored={isStored} />}
    </>
  );
}

function MethodChoice({ form: { method, setMethod } }: Pick<AddressProps, 'form'>) {
  const t = useT();
  return (
    <SegmentedControl
      aria-label={t('nodes.join.way')}
      value={method}
      onChange={setMethod}
      data={[
        { value: 'ssh', label: t('nodes.join.ssh') },
        { value: 'command', label: t('nodes.join.line') },
      ]}
    />
  );
}

function LoginFields({ form: { credential, setCredential }, isStored }: Omit<AddressProps, 'isFixed'>) {
  const t = useT();
  return (
    <>
      <NumberField name="port" min={1} max={65_535} plain />
      <TextField name="user" mono />
      <SegmentedControl
        aria-label={t('nodeJobs.by')}
        value={credential}
        onChange={setCredential}
        data={[
          { value: 'password', label: t('nodeJobs.fields.password') },
          { value: 'key', label: t('nodeJobs.fields.privateKey') },
        ]}
      />
      {credential === 'key' && (
        <TextField name="privateKey" long mono placeholder="-----BEGIN OPENSSH PRIVATE KEY-----" />
      )}
      <PasswordField name="password" fresh />
      {isStored && <p className={classes['why']}>{t('nodeJobs.stored')}</p>}
    </>
  );
}

interface HostKeyProps {
  isReading: boolean;
  /** Host key that the machine presents. */
  shown: string | null;
  /** Confirmed host key, if the machine still presents it. */
  pinned: string | null;
  isOther: boolean;
}

/** The machine presents its host key before a credential is sent; the operator confirms it. */
export function HostKey({ isReading, shown, pinned, isOther }: HostKeyProps) {
  const t = useT();
  return (
    <>
      {isReading && (
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
  /** Zone of an existing node, which cannot change here. */
  fixedZone: string | null;
  /** Null when no credential is used. */
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
