import { useT, type Word } from '../../lib/i18n.ts';
import type { Planned } from '../../lib/planned.ts';
import { toast } from '../../stores/toasts.ts';
import { LeaveGuard } from '../leave-guard/leave-guard.tsx';
import { SaveBar } from '../save-bar/save-bar.tsx';

/** The bar's view of a list. */
interface List {
  /** Shown before the changes when the page has several lists. */
  title?: Word;
  changes: readonly string[];
  publishing: boolean;
  publish: () => Promise<boolean>;
  plan: () => readonly Planned[] | null;
  discard: () => void;
  isRestored: boolean;
}

/** One bar for all lists of a page: changes, discard, publish. */
export function RulesBar({ lists }: { lists: readonly List[] }) {
  const t = useT();
  const changed = lists.filter(({ changes }) => changes.length > 0);
  const changes = changed.flatMap(({ title, changes: of }) =>
    of.map((change) => (title ? `${t(title)}${t('common.colon')}${change}` : change)),
  );
  /** Null if a rule is invalid; its editor opens. */
  const plan = () => {
    const calls: Planned[] = [];
    for (const list of changed) {
      const planned = list.plan();
      if (planned === null) return null;
      calls.push(...planned);
    }
    return calls;
  };
  const onSave = async () => {
    if (plan() === null) return;
    for (const list of changed) if (!(await list.publish())) return;
    toast({ text: t('shared.rules.published') });
  };
  return (
    <>
      <LeaveGuard when={changes.length > 0} />
      <SaveBar
        changes={changes}
        saving={lists.some(({ publishing }) => publishing)}
        saveLabel="common.publish"
        isRestored={changed.some(({ isRestored }) => isRestored)}
        preview={{ plan }}
        onSave={() => void onSave()}
        onDiscard={() => changed.forEach(({ discard }) => discard())}
      />
    </>
  );
}
