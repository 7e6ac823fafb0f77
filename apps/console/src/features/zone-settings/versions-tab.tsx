import { zoneSettings } from '@edgeloom/contract/zone-settings/zone-settings.endpoints.ts';
import { IconArrowsDiff, IconHistory, IconListDetails, IconRestore } from '@tabler/icons-react';
import { useState } from 'react';
import { useSides } from '../../components/differences/version-pair.tsx';
import { act } from '../../components/resource-table/actions.tsx';
import type { Column, RowOf } from '../../components/resource-table/columns.tsx';
import { ResourceTable } from '../../components/resource-table/resource-table.tsx';
import { Pill } from '../../components/status/status.tsx';
import { currentLanguage, t, useT } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import { useAction, useEndpoint } from '../../lib/use-endpoint.ts';
import { toast } from '../../stores/toasts.ts';
import { messageText } from '../rollouts/format.ts';
import type { Settings } from './draft.ts';
import { changeText } from './in-words.ts';
import { Review } from './review.tsx';
import { ZoneComparison } from './zone-comparison.tsx';

type Version = RowOf<typeof zoneSettings.versions>;

const tones = { live: 'ok', trial: 'busy', past: 'off', replaced: 'off', withdrawn: 'bad' } as const;

/** The reason of the change, and of its rollback. */
const whyOf = ({ reason, note, messageCode }: Version) =>
  [reason, messageText({ message: note, messageCode }, t, currentLanguage())].filter((text) => text !== '').join(' · ');

const columns: Column<Version>[] = [
  { key: 'version', render: ({ version }) => <b>{version}</b> },
  { key: 'state', render: (row) => <State row={row} />, text: ({ state }) => t(`zoneSettings.choices.state.${state}`) },
  {
    key: 'changes',
    flexible: true,
    render: (row) => <Changes row={row} />,
    text: ({ changes }) => changes.map((one) => changeText(t, one)).join('; '),
  },
  {
    key: 'reason',
    flexible: true,
    render: (row) => <span title={whyOf(row)}>{whyOf(row)}</span>,
    text: (row) => whyOf(row),
  },
  { key: 'author', priority: 2 },
  { key: 'createdAt', as: 'time' },
];

/** Versions with author and reason. Any two can be compared, and any can be restored after a preview. */
export function VersionsTab({ zoneId, settings }: { zoneId: string; settings: Settings }) {
  const can = useCan();
  const [chosen, setChosen] = useState<number | null>(null);
  const [sides, compare] = useSides();
  const close = () => {
    setChosen(null);
    document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true });
  };
  if (chosen !== null) return <RollbackReview zoneId={zoneId} version={chosen} settings={settings} onClose={close} />;
  if (sides !== null) return <ZoneComparison zoneId={zoneId} {...sides} choose={compare} />;
  return (
    <ResourceTable
      endpoint={zoneSettings.versions}
      params={{ zoneId }}
      sort="-version"
      columns={columns}
      caption="zoneSettings.versions"
      counted={() => null}
      row={(row) => [
        // The oldest stored version has no predecessor.
        ...(row.changes.length > 0
          ? [
              act<Version>({
                label: 'versions.show',
                icon: IconListDetails,
                run: () => compare({ from: row.version - 1, to: row.version }),
              }),
            ]
          : []),
        ...(row.version !== settings.version
          ? [
              act<Version>({
                label: 'versions.compare',
                icon: IconArrowsDiff,
                run: () => compare({ from: row.version, to: settings.version }),
              }),
            ]
          : []),
        ...(can(zoneSettings.rollback) && row.state !== 'live' && row.state !== 'trial'
          ? [act<Version>({ label: 'zoneSettings.rollback', icon: IconRestore, run: () => setChosen(row.version) })]
          : []),
      ]}
      bulk={[
        act<Version>({
          label: 'versions.choose',
          icon: IconArrowsDiff,
          run: (both) => {
            const [from, to] = both.map(({ version }) => version).toSorted((a, b) => a - b);
            if (both.length === 2 && from !== undefined && to !== undefined) compare({ from, to });
            else toast({ text: t('versions.two') });
          },
        }),
      ]}
      phone={(row) => ({ below: whyOf(row) || <Changes row={row} />, end: <State row={row} /> })}
      empty={{ icon: IconHistory }}
    />
  );
}

function State({ row: { state } }: { row: Version }) {
  return <Pill tone={tones[state]}>{useT()(`zoneSettings.choices.state.${state}`)}</Pill>;
}

function Changes({ row: { changes } }: { row: Version }) {
  const t = useT();
  if (changes.length === 0) return t('zoneSettings.beginning');
  const summary = changes.map((change) => changeText(t, change)).join(t('common.comma'));
  return <span title={summary}>{summary}</span>;
}

interface RollbackReviewProps {
  zoneId: string;
  version: number;
  settings: Settings;
  onClose: () => void;
}

function RollbackReview({ zoneId, version, settings, onClose }: RollbackReviewProps) {
  const params = { zoneId, version };
  const { run, running } = useAction(zoneSettings.rollback, {
    refreshes: ['zones', 'zonePorts'],
    done: 'zoneSettings.published',
  });
  const seen = useEndpoint(zoneSettings.previewRollback, { params }, { enabled: !running });
  return (
    <Review
      seen={seen}
      settings={settings}
      verb="zoneSettings.rollback"
      running={running}
      onPublish={(reason) => void run({ params, body: { reason } }).then((reply) => reply && onClose())}
      onBack={onClose}
    />
  );
}
