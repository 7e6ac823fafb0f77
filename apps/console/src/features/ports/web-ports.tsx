import { sitePorts } from '@edgeloom/contract/ports/ports.endpoints.ts';
import { isEverySites } from '@edgeloom/contract/ports/ports.ts';
import { Switch } from '@mantine/core';
import { Section } from '../../components/page/section.tsx';
import { Await } from '../../components/states/await.tsx';
import { useT } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import { useAction, useEndpoint } from '../../lib/use-endpoint.ts';
import classes from './ports.module.css';

const refreshes = ['ports', 'sites'];

/** Ports of the zone that the site opens. */
export function WebPorts({ siteId }: { siteId: string }) {
  const t = useT();
  const can = useCan();
  const found = useEndpoint(sitePorts.list, { params: { siteId } });
  const opening = useAction(sitePorts.open, { refreshes, done: 'ports.opened' });
  const closing = useAction(sitePorts.close, { refreshes, done: 'ports.closed' });
  const params = { siteId };
  return (
    <Section title="ports.web" why="ports.webWhy">
      <Await result={found}>
        {({ data }) => (
          <ul className={classes['web']}>
            {data.map(({ id, port, tls, open }) => (
              <li key={id}>
                <Switch
                  label={
                    <>
                      <b>{port}</b> {tls ? 'HTTPS' : 'HTTP'}
                    </>
                  }
                  description={isEverySites(port) ? t('ports.always') : null}
                  checked={open}
                  disabled={isEverySites(port) || opening.running || closing.running || !can(sitePorts.open)}
                  onChange={(event) =>
                    void (event.currentTarget.checked
                      ? opening.run({ params, body: { ports: [port] } })
                      : closing.run({ params, body: { ids: [id] } }))
                  }
                />
              </li>
            ))}
          </ul>
        )}
      </Await>
    </Section>
  );
}
