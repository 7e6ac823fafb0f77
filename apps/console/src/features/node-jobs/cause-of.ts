import { ApiError } from '@edgeloom/contract/client.ts';
import { fieldTitle } from '../../components/resource-table/columns.tsx';
import { explain, fieldErrorsOf, ruleText, withCode } from '../../lib/errors.ts';
import { t, tMaybe } from '../../lib/i18n.ts';

interface Cause {
  detail: string;
  /** Selects the advice. */
  fault?: string;
}
const NODE_UNREACHABLE = 202_001;

/** Why a call of an installation failed, with the fields as their labels name them. */
export function causeOf(error: unknown): Cause {
  const fields = fieldErrorsOf(error).map(({ path, rule, message, values }) =>
    [titleOf(path), ruleText(rule, message, values)].filter(Boolean).join(t('common.colon')),
  );
  if (fields.length > 0) return { detail: fields.join(t('common.semicolon')) };
  const detail = withCode(explain(error));
  if (!(error instanceof ApiError) || error.envelope.code !== NODE_UNREACHABLE) return { detail };
  const reason = error.envelope.extra?.['reason'];
  return { detail: typeof reason === 'string' ? reason : detail, fault: 'unreachable' };
}

/** `ssh.port` → "SSH port". */
function titleOf(path: string) {
  const name = path.split('.').at(-1) ?? path;
  return tMaybe(`nodeJobs.fields.${name}`) ?? fieldTitle('nodes', name);
}
