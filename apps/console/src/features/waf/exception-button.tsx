import type { Received } from '@edgeloom/contract/endpoint.ts';
import { wafs } from '@edgeloom/contract/waf/waf.endpoints.ts';
import type { ExceptionFrom } from '@edgeloom/contract/waf/waf.ts';
import { Button } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { time } from '../../lib/format.ts';
import { tMaybe, useT } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import { useAction } from '../../lib/use-endpoint.ts';
import { toast } from '../../stores/toasts.ts';
import { toastWithUndo } from '../../stores/undo.ts';
import { useRuleName } from './use-rule-name.ts';

type Exception = Received<typeof wafs.addException>['exception'];

/** Adds an exception for the finding in a request to the firewall of its domain. The message offers to undo it. */
export function ExceptionButton({ siteId, from }: { siteId: string; from: ExceptionFrom }) {
  const t = useT();
  const can = useCan();
  const adding = useAction(wafs.addException);
  const removing = useAction(wafs.removeException, { done: 'common.undone' });
  const ruleName = useRuleName(true);
  if (!can(wafs.addException)) return null;
  const inWords = ({ rule, parameter, path, host }: Exception) => {
    const name = rule === null ? t('wafs.anyRule') : (tMaybe(`wafs.categories.${rule}`) ?? ruleName(rule) ?? rule);
    return [name, parameter, `${host ?? ''}${path ?? ''}`].filter(Boolean).join(' · ');
  };
  const add = async () => {
    const added = await adding.run({ params: { siteId }, body: from });
    if (added === null) return;
    const { moduleID, name, exception, isNew } = added;
    const { rule, path, parameter, host, until } = exception;
    const words = { name, scope: inWords(exception), time: time(until) };
    if (!isNew) {
      toast({ tone: 'info', text: t(until === null ? 'wafs.exceptionKnown' : 'wafs.exceptionKnownUntil', words) });
      return;
    }
    toastWithUndo(t('wafs.exceptionAdded', words), async () => {
      await removing.run({ params: { siteId }, body: { moduleID, exception: { rule, path, parameter, host } } });
    });
  };
  return (
    <Button
      mt="sm"
      variant="default"
      size="xs"
      leftSection={<IconPlus size={14} stroke={1.8} />}
      loading={adding.running}
      onClick={() => void add()}
    >
      {t('wafs.addException')}
    </Button>
  );
}
