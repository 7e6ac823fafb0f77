import { t } from '../../lib/i18n.ts';
import classes from './fields.module.css';

/** Most fields are needed, so those that are not say so. */
export const Label = ({ text, optional }: { text: string; optional: boolean }) =>
  optional ? (
    <>
      {text} <span className={classes['optional']}>{t('common.form.optional')}</span>
    </>
  ) : (
    text
  );
