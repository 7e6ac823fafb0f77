import {
  allowedNames,
  snippetFaults,
  snippetParts,
  type SnippetPart,
} from '@edgeloom/contract/zone-settings/allowed.ts';
import { zoneSettings } from '@edgeloom/contract/zone-settings/zone-settings.endpoints.ts';
import { SegmentedControl, Switch } from '@mantine/core';
import { useState } from 'react';
import { CodeEditor } from '../../components/code-editor/code-editor.tsx';
import { StatusMark } from '../../components/status/status-mark.tsx';
import { useT } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import type { Settings } from './draft.ts';
import { Drafting } from './drafting.tsx';
import { faultText } from './in-words.ts';
import classes from './zone-settings.module.css';

/** What the operator writes for nginx, part by part. */
export function NginxTab({ zoneId, settings }: { zoneId: string; settings: Settings }) {
  const t = useT();
  const can = useCan();
  const [part, setPart] = useState<SnippetPart>('http');
  return (
    <Drafting zoneId={zoneId} settings={settings}>
      {({ nginx }, set) => (
        <div className={classes['nginx']}>
          <div className={classes['tools']}>
            <SegmentedControl
              aria-label={t('zoneSettings.part')}
              data={snippetParts.map((name) => ({ value: name, label: t(`zoneSettings.fields.${name}`) }))}
              value={part}
              onChange={setPart}
            />
            <Switch
              label={t('zoneSettings.fields.enable')}
              checked={nginx.enable}
              disabled={!can(zoneSettings.set)}
              onChange={(event) => set({ nginx: { ...nginx, enable: event.currentTarget.checked } })}
            />
          </div>
          <p className={classes['quiet']}>{t(`zoneSettings.partHints.${part}`)}</p>
          {!nginx.enable && snippetParts.some((name) => nginx[name] !== '') && (
            <p className={classes['unused']}>
              <StatusMark tone="warn" /> {t('zoneSettings.unused')}
            </p>
          )}
          <CodeEditor
            key={part}
            value={nginx[part]}
            label={t(`zoneSettings.fields.${part}`)}
            readOnly={!can(zoneSettings.set)}
            judge={(text) => snippetFaults(part, text).map((fault) => ({ ...fault, message: faultText(t, fault) }))}
            onChange={(text) => set({ nginx: { ...nginx, [part]: text } })}
          />
          <details className={classes['allowed']}>
            <summary>{t('zoneSettings.allowed')}</summary>
            <p>{allowedNames(part).join(' ')}</p>
          </details>
        </div>
      )}
    </Drafting>
  );
}
