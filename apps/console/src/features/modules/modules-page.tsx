import { copies } from '@edgeloom/contract/copies/copies.endpoints.ts';
import type { Endpoint } from '@edgeloom/contract/endpoint.ts';
import type { ModuleKind } from '@edgeloom/contract/modules/modules.ts';
import { ActionIcon, Button, UnstyledButton } from '@mantine/core';
import { IconCopyPlus, IconPencil, IconPlus, IconTrash, IconWorldWww, type Icon } from '@tabler/icons-react';
import type { ComponentType, ReactNode } from 'react';
import { useConfirm } from '../../components/confirm/confirm.tsx';
import { useSite } from '../../components/frame/site-scope.ts';
import { useOverlay } from '../../components/overlay/overlay.tsx';
import { Page } from '../../components/page/page.tsx';
import { Await } from '../../components/states/await.tsx';
import { EmptyState } from '../../components/states/states.tsx';
import { Pill } from '../../components/status/status.tsx';
import { useT } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import type { Result } from '../../lib/use-endpoint.ts';
import { CopyModuleForm } from '../copies/copy-forms.tsx';
import { AssignForm } from './assign-form.tsx';
import classes from './modules.module.css';

export interface Module {
  id: string;
  name: string;
  inUse: number;
}

interface ModulesPageProps<Row> {
  kind: ModuleKind;
  words: 'acls' | 'luaAcls' | 'customHeaders' | 'cors' | 'proxyRewrites' | 'tokenAuths' | 'urlRedirects' | 'wafs';
  icon: Icon;
  found: Result<{ data: Row[] }>;
  calls: { create: Pick<Endpoint, 'can'>; update: Pick<Endpoint, 'can'>; remove: Pick<Endpoint, 'can'> };
  onRemove: (row: Row) => void;
  form: ComponentType<{ siteId: string; value: Row | undefined }>;
  /** Content of a module as sentences. */
  children: (row: Row) => ReactNode;
}

/** Modules of one kind, with their content and number of domains. */
export function ModulesPage<Row extends Module>(props: ModulesPageProps<Row>) {
  const { words, icon, found, calls, form: Form, children, kind, onRemove } = props;
  const t = useT();
  const can = useCan();
  const overlay = useOverlay();
  const { id: siteId } = useSite();
  const create = () => overlay(<Form siteId={siteId} value={undefined} />, { title: `${words}.create`, wide: true });
  const button = can(calls.create) && (
    <Button data-main-action leftSection={<IconPlus size={15} stroke={1.8} />} onClick={create}>
      {t(`${words}.create`)}
    </Button>
  );
  const empty = found.data?.data.length === 0;
  return (
    <Page title={`${words}.title`} count={empty ? null : found.data?.data.length} actions={!empty && button}>
      <Await result={found}>
        {({ data }) =>
          data.length === 0 ? (
            <EmptyState icon={icon} title={t(`${words}.empty.title`)} text={t(`${words}.empty.text`)} action={button} />
          ) : (
            <ul className={classes['modules']}>
              {data.map((row) => (
                <Card key={row.id} kind={kind} row={row} calls={calls} onRemove={onRemove} form={Form} words={words}>
                  {children(row)}
                </Card>
              ))}
            </ul>
          )
        }
      </Await>
    </Page>
  );
}

interface CardProps<Row> extends Pick<ModulesPageProps<Row>, 'kind' | 'calls' | 'onRemove' | 'form' | 'words'> {
  row: Row;
  children: ReactNode;
}

function Card<Row extends Module>({ kind, row, calls, onRemove, form: Form, words, children }: CardProps<Row>) {
  const t = useT();
  const can = useCan();
  const overlay = useOverlay();
  const confirm = useConfirm();
  const { id: siteId } = useSite();
  const { name, inUse } = row;
  const remove = async () => {
    const title = t('domainModules.removeTitle', { name });
    if (await confirm({ title, points: [t('shared.confirm.final')], verb: t('common.remove') })) onRemove(row);
  };
  return (
    <li className={classes['module']}>
      <header className={classes['head']}>
        <h2 className={classes['name']}>{name}</h2>
        <DomainsButton kind={kind} module={row} words={words} />
        <span className={classes['actions']}>
          {can(calls.update) && (
            <ActionIcon
              aria-label={t('domainModules.edit', { name })}
              data-edits={row.id}
              onClick={() => overlay(<Form siteId={siteId} value={row} />, { title: { text: name }, wide: true })}
            >
              <IconPencil size={15} stroke={1.6} />
            </ActionIcon>
          )}
          {can(copies.modules) && (
            <ActionIcon
              aria-label={t('copies.module', { name })}
              onClick={() =>
                overlay(<CopyModuleForm siteId={siteId} kind={kind} id={row.id} />, { title: 'copies.title' })
              }
            >
              <IconCopyPlus size={15} stroke={1.6} />
            </ActionIcon>
          )}
          {can(calls.remove) && (
            <ActionIcon
              aria-label={t('domainModules.remove', { name })}
              title={inUse > 0 ? t('domainModules.removeUsed') : undefined}
              disabled={inUse > 0}
              onClick={() => void remove()}
            >
              <IconTrash size={15} stroke={1.6} />
            </ActionIcon>
          )}
        </span>
      </header>
      {children}
    </li>
  );
}

interface DomainsButtonProps {
  kind: ModuleKind;
  module: Module;
  words: string;
}

/** The number of domains with the module; opens their list. In amber if there are none: the module has no effect. */
export function DomainsButton({ kind, module, words }: DomainsButtonProps) {
  const t = useT();
  const overlay = useOverlay();
  const site = useSite();
  const { name, inUse } = module;
  return (
    <UnstyledButton
      className={classes['used'] ?? ''}
      onClick={() =>
        overlay(<AssignForm site={site} kind={kind} module={module} words={words} />, {
          title: { text: t('domainModules.assignTitle', { name }) },
        })
      }
    >
      <Pill tone={inUse > 0 ? 'ok' : 'warn'}>
        <span className={classes['count']}>
          <IconWorldWww size={13} stroke={1.6} aria-hidden />
          {inUse > 0 ? t('domainModules.inUse', { count: inUse }) : t('domainModules.unused')}
        </span>
      </Pill>
    </UnstyledButton>
  );
}

/** One sentence per line. */
export const Sentences = ({ children }: { children: ReactNode }) => <ul className={classes['rules']}>{children}</ul>;
