import { Button, FileInput } from '@mantine/core';
import { IconPhoto, IconTrash } from '@tabler/icons-react';
import { useT } from '../../lib/i18n.ts';
import { useField } from '../resource-form/form-state.ts';
import { Label } from './label.tsx';
import { Picture } from './picture.tsx';
import classes from './fields.module.css';

interface PictureFieldProps {
  name: string;
  /** The stored picture. The field's value is a new file, or an empty text to remove the picture. */
  current: string | null;
}

/** An image upload with a preview. */
export function PictureField({ name, current }: PictureFieldProps) {
  const t = useT();
  const { accepted, value, set, input } = useField(name);
  if (!accepted) return null;
  const chosen = value instanceof File ? value : null;
  const shown = chosen ?? (value === '' ? null : current);
  return (
    <div className={classes['picture']}>
      <FileInput
        {...input}
        label={<Label text={input.label} optional />}
        required={false}
        accept="image/png,image/jpeg,image/webp,image/svg+xml,image/x-icon,.ico"
        value={chosen}
        onChange={(file) => set(file ?? undefined)}
        clearable={chosen !== null}
        clearButtonProps={{ 'aria-label': t('common.form.clear') }}
        leftSection={<IconPhoto size={16} stroke={1.6} aria-hidden />}
        placeholder={t('common.form.chooseFile')}
      />
      <div className={classes['thumb']}>{shown !== null && <Picture of={shown} />}</div>
      {current !== null && chosen === null && (
        <Button
          variant="subtle"
          color={value === '' ? 'gray' : 'red'}
          size="xs"
          leftSection={<IconTrash size={14} stroke={1.6} />}
          onClick={() => set(value === '' ? undefined : '')}
          aria-label={`${t(value === '' ? 'common.form.keep' : 'common.remove')}: ${input.label}`}
        >
          {t(value === '' ? 'common.form.keep' : 'common.remove')}
        </Button>
      )}
    </div>
  );
}
