import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const root = path.join(import.meta.dirname, '..');
const manifests = globSync(['{packages,apps}/*/package.json', 'agent/package.json'], { cwd: root });

// Regression: an installation with a frozen lockfile fails without the manifest of a package.
test.each(['api', 'edge'])('the image of the %s installs every package of the workspace', (image) => {
  const text = readFileSync(path.join(root, `deploy/docker/${image}.Dockerfile`), 'utf8');
  expect(manifests.length).toBeGreaterThan(4);
  expect(manifests.filter((file) => !text.includes(`COPY ${file} ${path.dirname(file)}/`))).toEqual([]);
});
