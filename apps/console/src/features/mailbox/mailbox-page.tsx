import { mailbox } from '@edgeloom/contract/auth/auth.endpoints.ts';
import { IconMail, IconMailOpened } from '@tabler/icons-react';
import { Page } from '../../components/page/page.tsx';
import { open } from '../../components/resource-table/actions.tsx';
import type { Column, RowOf } from '../../components/resource-table/columns.tsx';
import { ResourceTable } from '../../components/resource-table/resource-table.tsx';
import { Await } from '../../components/states/await.tsx';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import classes from '../security/security.module.css';

type Summary = RowOf<typeof mailbox.list>;

const columns: Column<Summary>[] = [
  { key: 'subject', sort: false },
  { key: 'to', sort: false, flexible: true },
  { key: 'at', as: 'time' },
];

/** Mails of an installation without a mail server. */
export function MailboxPage() {
  return (
    <Page title="mailbox.title">
      <ResourceTable
        endpoint={mailbox.list}
        columns={columns}
        sort="-at"
        pollMs={5000}
        row={({ id }) => [
          open({
            label: 'mailbox.read',
            title: 'mailbox.mail',
            icon: IconMailOpened,
            element: <Letter id={id} />,
            ofRow: true,
          }),
        ]}
        phone={({ to }) => ({ below: to, end: null })}
        empty={{ icon: IconMail }}
      />
    </Page>
  );
}

/** As text, because HTML of mails must not run in the console. */
function Letter({ id }: { id: string }) {
  const mail = useEndpoint(mailbox.get, { params: { id } });
  return (
    <Await result={mail}>
      {({ subject, to, text }) => (
        <div className={classes['drawer']}>
          <h3>{subject}</h3>
          <p className={classes['quiet']}>{to}</p>
          <pre className={classes['mail']}>{text}</pre>
        </div>
      )}
    </Await>
  );
}
