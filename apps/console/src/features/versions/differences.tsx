import type { Received } from '@edgeloom/contract/endpoint.ts';
import type { versions } from '@edgeloom/contract/versions/versions.endpoints.ts';
import { fieldTitle } from '../../components/resource-table/columns.tsx';
import { count } from '../../lib/format.ts';
import { t as words, tMaybe, useT } from '../../lib/i18n.ts';
import classes from './versions.module.css';

type Difference = Received<typeof versions.compare>['data'][number];

export const kindName = (kind: string) => tMaybe(`versions.kinds.${kind}`) ?? kind;

/** Thing by thing and field by field: before beside after. */
export function Differences({ rows, total }: { rows: readonly Difference[]; total: number }) {
  const t = useT();
  return (
    <>
      {rows.map((row) => (
        <section key={`${row.kind} ${row.key}`} className={classes['thing']}>
          <h3>
            {kindName(row.kind)} {[row.parent, row.name].filter((name) => name !== '').join(' · ')}
          </h3>
          <p className={classes[row.action]}>{t(`versions.${row.action}`, { number: count(1) })}</p>
          {row.fields.length > 0 && (
            <table className={classes['fields']}>
              <thead>
                <tr>
                  <th scope="col">{t('versions.field')}</th>
                  <th scope="col">{t('versions.before')}</th>
                  <th scope="col">{t('versions.after')}</th>
                </tr>
              </thead>
              <tbody>
                {row.fields.map(({ field, before, after }) => (
                  <tr key={field}>
                    <th scope="row">{titleOf(row.kind, field)}</th>
                    <td>
                      <del>{written(before)}</del>
                    </td>
                    <td>
                      <ins>{written(after)}</ins>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          )}
        </section>
      ))}
      {total > rows.length && <p>{t('versions.more', { number: count(total - rows.length) })}</p>}
    </>
  );
}

/** Where the words of a kind's fields stand, when the feature is called otherwise. */
const wordsOf: Readonly<Record<string, string>> = {
  cacheRules: 'cache',
  cacheSettings: 'cache',
  compressions: 'compression',
  upstreams: 'origins',
  portRules: 'ports',
  portUpstreams: 'origins',
  antiReferers: 'hotlink',
  antiHeaders: 'hotlink',
};

const titleOf = (kind: string, field: string) => {
  const feature = wordsOf[kind] ?? kind;
  return tMaybe(`${feature}.fields.${field}`) ?? tMaybe(`versions.fields.${field}`) ?? fieldTitle(feature, field);
};

function written(value: unknown): string {
  if (value === null || value === undefined || value === '') return '—';
  if (typeof value === 'boolean') return words(value ? 'common.on' : 'common.off');
  if (Array.isArray(value)) return value.length === 0 ? '—' : value.map(written).join(', ');
  if (typeof value === 'object')
    return Object.entries(value)
      .map(([name, inner]) => `${name}: ${written(inner)}`)
      .join(', ');
  return String(value);
}
