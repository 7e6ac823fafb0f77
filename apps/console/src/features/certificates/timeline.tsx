import { StatusMark } from '../../components/status/status-mark.tsx';
import { Time } from '../../components/values/values.tsx';
import { useT } from '../../lib/i18n.ts';
import type { Tone } from '../../theme/theme.ts';
import type { Info } from './certificate-details.tsx';
import classes from './certificates.module.css';

type Step = Info['timeline'][number];
const tones: Readonly<Record<string, Tone>> = {
  failed: 'bad',
  passed: 'warn',
  waits: 'held',
  signed: 'ok',
  uploaded: 'ok',
  validated: 'ok',
};

/** History of a certificate, newest first. Messages of the authority are not translated. */
export function Timeline({ of }: { of: readonly Step[] }) {
  const t = useT();
  return (
    <ol className={classes['timeline']}>
      {of.map(({ id, at, step, ca, keyType, detail }) => (
        <li key={id}>
          <StatusMark tone={tones[step] ?? 'unknown'} />
          <div>
            <span className={classes['step']}>
              <b>{t(`certificates.steps.${step}`)}</b>
              {ca !== null && <span>{ca}</span>}
              {keyType !== null && <span>{keyType.toUpperCase()}</span>}
            </span>
            {detail !== null && <p className={classes['detail']}>{detail}</p>}
          </div>
          <Time at={at} />
        </li>
      ))}
    </ol>
  );
}
