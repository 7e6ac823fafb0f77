import { systemSetting } from '@edgeloom/contract/system-setting/system-setting.endpoints.ts';
import type { ComponentType } from 'react';
import { Page } from '../../components/page/page.tsx';
import { useT, type Word } from '../../lib/i18n.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { DbBackupForm } from '../db-backup/db-backup-form.tsx';
import { EmailSettingForm } from '../email-setting/email-setting-form.tsx';
import { NameProofSettingForm } from '../name-proof-setting/name-proof-setting-form.tsx';
import { OidcSettingForm } from '../oidc-setting/oidc-setting-form.tsx';
import { AccountVerifyForm, OutgoingURLForm, RestrictGroupCIDRsForm } from './system-setting-forms.tsx';
import classes from './system-setting.module.css';

interface Part {
  id: string;
  title: Word;
  Form: ComponentType;
}
// Sections of the page; add new settings here.
const parts: readonly Part[] = [
  { id: 'email', title: 'emailSetting.title', Form: EmailSettingForm },
  { id: 'nameProof', title: 'nameProofSetting.title', Form: NameProofSettingForm },
  { id: 'outgoingURL', title: 'systemSetting.links', Form: OutgoingURLForm },
  { id: 'accountVerify', title: 'systemSetting.signIn', Form: AccountVerifyForm },
  { id: 'restrictGroupCIDRs', title: 'systemSetting.origins', Form: RestrictGroupCIDRsForm },
  { id: 'oidc', title: 'oidcSetting.title', Form: OidcSettingForm },
];
const backupPart: Part = { id: 'DBBackup', title: 'dbBackup.title', Form: DbBackupForm };

/** Settings with an index. Each section is saved separately. */
export function SystemSettingPage() {
  const t = useT();
  // Null where the installation has other operators, and without the permission.
  const hasBackup = useEndpoint(systemSetting.all).data?.DBBackup != null;
  const shown = hasBackup ? [...parts, backupPart] : parts;
  return (
    <Page title="systemSetting.title">
      <div className={classes['page']}>
        <nav className={classes['index']} aria-label={t('systemSetting.index')}>
          {shown.map(({ id, title }) => (
            <a key={id} href={`#${id}`}>
              {t(title)}
            </a>
          ))}
        </nav>
        <div className={classes['parts']}>
          {shown.map(({ id, title, Form }) => (
            <section key={id} id={id} className={classes['part']} aria-label={t(title)}>
              <h2 className={classes['title']}>{t(title)}</h2>
              <Form />
            </section>
          ))}
        </div>
      </div>
    </Page>
  );
}
