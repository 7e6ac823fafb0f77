import { snippetParts, type SnippetPart } from '@edgeloom/contract/zone-settings/directive-allowlist.ts';
import { zoneSettings } from '@edgeloom/contract/zone-settings/zone-settings.endpoints.ts';
import { Switch } from '@mantine/core';
import { useState } from 'react';
import { StatusMark } from '../../components/status/status-mark.tsx';
import { useT } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import type { Settings } from './draft.ts';
import { Drafting } from './drafting.tsx';
import { PartChoice, SnippetEditor } from './snippet-editor.tsx';
import classes from './zone-settings.module.css';

/** The operator's nginx snippets. */
export function NginxTab({ zoneId, settings }: { zoneId: string; settings: Settings }) {
  const t = useT();
  const can = useCan();
  const [part, setPart] = useState<SnippetPart>('http');
  return (
    <Drafting zoneId={zoneId} settings={settings}>
      {({ nginx }, set) => (
        <div className={classes['nginx']}>
          <div className={classes['tools']}>
            <PartChoice part={part} onChange={setPart} />
            <Switch
              label={t('zoneSettings.fields.enable')}
              checked={nginx.enable}
              disabled={!can(zoneSettings.set)}
              onChange={(event) => set({ nginx: { ...nginx, enable: event.currentTarget.checked } })}
            />
          </div>
          {!nginx.enable && snippetParts.some((name) => nginx[name] !== '') && (
            <p className={classes['unused']}>
              <StatusMark tone="warn" /> {t('zoneSettings.unused')}
            </p>
          )}
          <SnippetEditor
            key={part}
            part={part}
            value={nginx[part]}
            readOnly={!can(zoneSettings.set)}
            onChange={(text) => set({ nginx: { ...nginx, [part]: text } })}
          />
        </div>
      )}
    </Drafting>
  );
}
