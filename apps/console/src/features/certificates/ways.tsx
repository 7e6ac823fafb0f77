import { SegmentedControl } from '@mantine/core';
import { useT } from '../../lib/i18n.ts';
import classes from './certificates.module.css';

interface WaysProps<Way> {
  of: readonly Way[];
  value: Way;
  onChange: (way: Way) => void;
}

/** Selects how a certificate is added. */
export function Ways<Way extends 'automatic' | 'pem' | 'pkcs12' | 'csr'>({ of, value, onChange }: WaysProps<Way>) {
  const t = useT();
  return (
    <div className={classes['ways']}>
      <SegmentedControl
        fullWidth
        aria-label={t('certificates.way')}
        data={of.map((way) => ({ value: way, label: t(`certificates.ways.${way}`) }))}
        value={value}
        onChange={(chosen) => onChange(of.find((way) => way === chosen) ?? value)}
      />
      <p>{t(`certificates.why.${value}`)}</p>
    </div>
  );
}
