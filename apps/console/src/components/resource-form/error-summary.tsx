import { UnstyledButton } from '@mantine/core';
import { IconAlertCircle } from '@tabler/icons-react';
import { useT } from '../../lib/i18n.ts';
import classes from './resource-form.module.css';

interface ErrorSummaryProps {
  count: number;
  /** Errors that no visible field shows. */
  hidden: readonly string[];
  onShow: () => void;
  /** Fields with an error, each with a function that opens it. */
  fields?: readonly { text: string; open: () => void }[];
}

/** Number of errors beside the save button, with links to the fields. */
export function ErrorSummary({ count, hidden, onShow, fields = [] }: ErrorSummaryProps) {
  const t = useT();
  return (
    <div className={classes['summary']} role="alert">
      <UnstyledButton className={classes['summaryButton'] ?? ''} onClick={onShow}>
        <IconAlertCircle size={15} stroke={1.8} aria-hidden />
        {t('common.form.check', { count })}
      </UnstyledButton>
      {fields.length > 0 && (
        <ul className={classes['summaryFields']}>
          {fields.map(({ text, open }) => (
            <li key={text}>
              <UnstyledButton className={classes['summaryButton'] ?? ''} onClick={open}>
                {text}
              </UnstyledButton>
            </li>
          ))}
        </ul>
      )}
      {hidden.map((text) => (
        <span key={text}>{text}</span>
      ))}
    </div>
  );
}

/** Focuses the first field with an error and opens its collapsed section. */
export function focusFirstError(form: HTMLFormElement | null) {
  const [field] = invalidFields(form);
  if (field) focusField(field);
}

export const invalidFields = (within: HTMLElement | null) => [
  ...(within?.querySelectorAll<HTMLElement>('[aria-invalid="true"]') ?? []),
];

export function focusField(field: HTMLElement) {
  const section = field.closest('details');
  if (section) section.open = true;
  field.focus();
}

/** The text of a field's label. */
export const labelOf = (field: HTMLElement) =>
  (field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement
    ? field.labels?.[0]?.firstChild?.textContent?.trim()
    : null) ??
  field.getAttribute('aria-label') ??
  '';
