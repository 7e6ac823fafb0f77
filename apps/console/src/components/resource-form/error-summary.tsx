import { UnstyledButton } from '@mantine/core';
import { IconAlertCircle } from '@tabler/icons-react';
import { useT } from '../../lib/i18n.ts';
import classes from './resource-form.module.css';

interface ErrorSummaryProps {
  count: number;
  /** Errors that no visible field shows. */
  hidden: readonly string[];
  onShow: () => void;
}

/** Number of errors beside the save button, with a link to the first one. */
export function ErrorSummary({ count, hidden, onShow }: ErrorSummaryProps) {
  const t = useT();
  return (
    <div className={classes['summary']} role="alert">
      <UnstyledButton className={classes['summaryButton'] ?? ''} onClick={onShow}>
        <IconAlertCircle size={15} stroke={1.8} aria-hidden />
        {t('common.form.check', { count })}
      </UnstyledButton>
      {hidden.map((text) => (
        <span key={text}>{text}</span>
      ))}
    </div>
  );
}

/** Focuses the first field with an error and opens its collapsed section. */
export function focusFirstError(form: HTMLFormElement | null) {
  const field = form?.querySelector<HTMLElement>('[aria-invalid="true"]');
  const section = field?.closest('details');
  if (section) section.open = true;
  field?.focus();
}
