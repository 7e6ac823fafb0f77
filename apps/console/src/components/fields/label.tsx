import { t } from '../../lib/i18n.ts';
import classes from './fields.module.css';

/** Most fields are required, so optional ones are marked. */
export const Label = ({ text, optional }: { text: string; optional: boolean }) =>
  optional ? (
    <>
      {text} <span className={classes['optional']}>{t('common.form.optional')}</span>
    </>
  ) : (
    text
  );
