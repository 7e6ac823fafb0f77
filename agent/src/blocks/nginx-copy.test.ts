import { expect, test } from 'vitest';
import { NginxCopy } from './nginx-copy.ts';

/** The copy of an nginx that found nothing. `asked` lists how each fetch reports the blocks of the one before. */
function copyOfNginx() {
  const asked: (string | undefined)[] = [];
  let isDown = false;
  const copy = new NginxCopy({
    fetchBlocks: async (_room, lastFetch) => {
      asked.push(lastFetch);
      if (isDown) throw new Error('no nginx');
      return { mark: undefined, found: [], dropped: 0 };
    },
    changeBlocks: () => Promise.resolve(),
  });
  return { asked, copy, setDown: (down: boolean) => void (isDown = down) };
}

test('a new agent asks nginx for the blocks that the agent before it may have lost', async () => {
  const { asked, copy } = copyOfNginx();
  copy.written();
  await copy.fetch(10);
  expect(asked).toEqual(['lost']);
});

test('nginx forgets the blocks of a fetch only when they are on disk', async () => {
  const { asked, copy } = copyOfNginx();
  await copy.fetch(10);
  await copy.fetch(10);
  copy.written();
  await copy.fetch(10);
  expect(asked).toEqual(['lost', undefined, 'kept']);
});

test('blocks of a failed fetch are asked for again, although the earlier ones are on disk', async () => {
  const { asked, copy, setDown } = copyOfNginx();
  await copy.fetch(10);
  copy.written();
  setDown(true);
  await expect(copy.fetch(10)).rejects.toThrow('no nginx');
  copy.written();
  setDown(false);
  await copy.fetch(10);
  expect(asked).toEqual(['lost', 'kept', 'lost']);
});
