import { accounts } from '@edgeloom/contract/accounts/accounts.endpoints.ts';
import { roles } from '@edgeloom/contract/roles/roles.endpoints.ts';
import { ChoiceField } from '../../components/fields/choice-field.tsx';
import { SelectMetaField } from '../../components/fields/select-meta-field.tsx';
import { TextField } from '../../components/fields/text-field.tsx';
import { TimeField } from '../../components/fields/time-field.tsx';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import { family, type Family } from '../../lib/family.ts';
import type { Word } from '../../lib/i18n.ts';
import { usePreferences } from '../../stores/preferences.ts';
import type { Account } from './account.ts';

interface AccountFormProps {
  value?: Account;
  auth: Family;
  isSub: boolean;
  /** Label of the create button. */
  adding?: Word;
}

export function AccountForm({ value, auth, isSub, adding }: AccountFormProps) {
  const language = usePreferences((preferences) => preferences.language);
  const isOperator = family === 'admin' && auth === 'client' && !isSub;
  return (
    <ResourceForm
      create={accounts.create}
      update={accounts.update}
      value={value && editable(value, isOperator)}
      initial={{ auth, language }}
      refreshes={['clients']}
      {...(adding && { submitLabel: adding })}
      done={value ? 'accounts.done.edit' : 'accounts.done.create'}
    >
      <TextField name="email" />
      <TextField name="name" />
      {isOperator && <TextField name="clientName" />}
      {isSub && <SelectMetaField name="roleID" meta={roles.meta} />}
      <TimeField name="expiry" nullable />
      <TextField name="phone" />
      <TextField name="companyName" />
      <TextField name="companyPhone" />
      <TextField name="companyTaxID" />
      <TextField name="address" />
      <ChoiceField name="language" />
    </ResourceForm>
  );
}

/** The state is omitted: saving a form that was open for long must not unlock the account. */
function editable({ status: _, clientName, ...account }: Account, isOperator: boolean) {
  return { ...account, ...(isOperator && clientName !== null && { clientName }) };
}
