import { AddressEntry } from '@edgeloom/contract/common/address-ranges.ts';
import { useState } from 'react';
import { LinesInput } from '../../components/fields/lines-input.tsx';
import { verdictsOf, wholeLinesOf, withRefused } from '../../components/fields/lines.ts';
import { useField, useForm } from '../../components/resource-form/form-state.ts';
import { useT } from '../../lib/i18n.ts';
import { readEntries, writeEntries, type Entries } from './entries.ts';

/** Addresses with their expiry, one per line. */
export function EntriesField() {
  const t = useT();
  const { values, set } = useForm();
  const { inner, input } = useField('ips');
  const [text, setText] = useState(() => writeEntries(entriesOf(values)).join('\n'));
  const lines = wholeLinesOf(text);
  const judge = (line: string) => {
    const [ip = ''] = readEntries([line]).ips;
    return ip === '' || AddressEntry.safeParse(ip).success ? null : t('errors.messages.wrong format');
  };
  return (
    <LinesInput
      input={input}
      text={text}
      count={readEntries(lines).ips.length}
      verdicts={withRefused(lines, verdictsOf(lines, judge, t('common.form.twice')), inner)}
      placeholder={'203.0.113.7\n2001:db8::/32\n192.0.2.1-192.0.2.9 2030-01-01'}
      rows={10}
      onChange={(typed) => {
        setText(typed);
        const { ips, expires } = readEntries(wholeLinesOf(typed));
        set('ips', ips);
        set('expires', expires);
      }}
    />
  );
}

function entriesOf({ ips, expires }: Readonly<Record<string, unknown>>): Entries {
  return {
    ips: Array.isArray(ips) ? ips.map(String) : [],
    expires: Array.isArray(expires) ? expires.filter(isExpiry) : [],
  };
}
const isExpiry = (value: unknown): value is Entries['expires'][number] =>
  typeof value === 'object' && value !== null && 'ip' in value && 'at' in value;
