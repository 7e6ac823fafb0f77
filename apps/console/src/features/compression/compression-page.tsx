import { compression } from '@edgeloom/contract/compression/compression.endpoints.ts';
import { ImageType } from '@edgeloom/contract/compression/compression.ts';
import { LinesField } from '../../components/fields/lines-field.tsx';
import { ManyField } from '../../components/fields/many-field.tsx';
import { NumberField } from '../../components/fields/number-field.tsx';
import { SizeField } from '../../components/fields/size-field.tsx';
import { SwitchField } from '../../components/fields/switch-field.tsx';
import { useSite } from '../../components/frame/site-scope.ts';
import { Page } from '../../components/page/page.tsx';
import { Section } from '../../components/page/section.tsx';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import { Await } from '../../components/states/await.tsx';
import { useEndpoint } from '../../lib/use-endpoint.ts';

const imageTypes = ImageType.options.map((value) => ({ value, label: value === 'image/png' ? 'PNG' : 'JPEG' }));

/** Compression and WebP settings. */
export function CompressionPage() {
  const params = { siteId: useSite().id };
  return (
    <Page title="compression.title">
      <Await result={useEndpoint(compression.get, { params })}>
        {(value) => (
          <ResourceForm update={compression.update} params={params} value={value} bar preview>
            <Section title="compression.how" why="compression.howWhy">
              <SwitchField name="brotli" />
              <SwitchField name="gzip" />
            </Section>
            <Section title="compression.what" why="compression.whatWhy">
              <SizeField name="minBytes" unit="KiB" />
              <LinesField name="types" placeholder="text/html" rows={8} />
            </Section>
            <Section title="compression.images" why="compression.imagesWhy">
              <SwitchField name="webp" />
              <ManyField name="webpTypes" data={imageTypes} />
              <NumberField name="webpQuality" min={1} max={100} />
              <SizeField name="webpMinBytes" unit="KiB" />
              <SizeField name="webpMaxBytes" unit="KiB" />
            </Section>
          </ResourceForm>
        )}
      </Await>
    </Page>
  );
}
