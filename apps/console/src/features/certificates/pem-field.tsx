import { Button, FileButton, Input, Textarea } from '@mantine/core';
import { IconFileUpload } from '@tabler/icons-react';
import { useState } from 'react';
import { useField } from '../../components/resource-form/form-state.ts';
import { base64 } from '../../lib/base64.ts';
import { useT } from '../../lib/i18n.ts';
import classes from './certificates.module.css';

/** PEM, pasted or from a file. */
export function PemField({ name, secret = false }: { name: string; secret?: boolean }) {
  const t = useT();
  const { accepted, value, set, input } = useField(name);
  if (!accepted) return null;
  const choose = async (file: File | null) => file && set(await file.text());
  return (
    <div className={classes['pem']}>
      <Textarea
        {...input}
        value={typeof value === 'string' ? value : ''}
        onChange={(event) => set(event.currentTarget.value)}
        autoComplete={secret ? 'new-password' : 'off'}
        spellCheck={false}
        autosize
        minRows={4}
        maxRows={10}
        placeholder={t(secret ? 'certificates.placeholders.key' : 'certificates.placeholders.chain')}
        classNames={{ input: classes['mono'] ?? '' }}
      />
      <FileButton
        onChange={(file) => void choose(file)}
        accept=".pem,.crt,.cer,.key,.txt"
        inputProps={{ 'aria-label': input.label }}
      >
        {(props) => (
          <Button
            {...props}
            size="compact-xs"
            variant="default"
            leftSection={<IconFileUpload size={13} stroke={1.6} />}
          >
            {t('certificates.chooseFile')}
          </Button>
        )}
      </FileButton>
    </div>
  );
}

/** A binary file. */
export function BinaryField({ name }: { name: string }) {
  const t = useT();
  const { accepted, set, input } = useField(name);
  const [chosen, setChosen] = useState('');
  if (!accepted) return null;
  const choose = async (file: File | null) => {
    if (!file) return;
    setChosen(file.name);
    set(base64(new Uint8Array(await file.arrayBuffer())));
  };
  return (
    <Input.Wrapper label={input.label} description={input.description} error={input.error} labelElement="div">
      <div className={classes['file']}>
        <FileButton
          onChange={(file) => void choose(file)}
          accept=".p12,.pfx"
          inputProps={{ 'aria-label': input.label }}
        >
          {(props) => (
            <Button {...props} variant="default" leftSection={<IconFileUpload size={15} stroke={1.6} />}>
              {t('certificates.chooseFile')}
            </Button>
          )}
        </FileButton>
        <span>{chosen}</span>
      </div>
    </Input.Wrapper>
  );
}
