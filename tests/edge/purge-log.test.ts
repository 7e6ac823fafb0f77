// Purges hold across restarts, on a full disk, and as long as purged files may stay on disk.
import { appendFile, lstat, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { rule, startEdge, zoneDoc } from '../support/services/edge.ts';
import type { Edge, EdgeOptions } from '../support/services/edge.ts';

/** An edge with a site whose file `/below/a` has a new body with each request. */
async function startSite(options: EdgeOptions = {}) {
  const edge = await startEdge(options);
  onTestFinished(() => edge.stop());
  const { name: host, site } = await edge.site({ cacheRules: [rule({ cacheTime: 3600 })] });
  let requests = 0;
  edge.origin.on('/below/a', () => ({ headers: { 'cache-tag': 'tag' }, body: `body ${(requests += 1)}` }));
  return {
    edge,
    host,
    site,
    log: join(edge.dir, 'cache/purged'),
    get: async () => (await edge.get('/below/a', { host })).body,
    purgePrefix: () => edge.admin.purge({ site: site.id, prefixes: [`${host}/below`] }, 60_000),
  };
}

/** Each look at the status lets twenty days of the dictionary `urls` pass. */
const twentyDays = {
  file: 'edge/admin.lua',
  from: 'counters = counters.all(),',
  to: `counters = (function()
    local urls, passed = require("edge.core.dicts").urls, 20 * 86400
    for _, name in ipairs(urls:get_keys(0)) do
      local left = urls:ttl(name)
      if left > passed then
        urls:expire(name, left - passed)
      elseif left > 0 then
        urls:delete(name)
      end
    end
    return counters.all()
  end)(),`,
};

/** A zone that keeps files without requests for so many days. */
const keptFor = (days: number) => ({
  cache: { maxBytes: 256 << 20, keyBytes: 4 << 20, inactiveSeconds: days * 86_400 },
});

describe('on a full disk', () => {
  // Regression: the empty new file replaced the log.
  test('the purge log stays as it is when it cannot be shortened', async () => {
    const { edge, log, get, purgePrefix } = await startSite({
      zone: { worker: { processes: 1, connections: 1024 } },
      lua: [{ file: 'edge/cache/purge_log.lua', from: '4 * 1024 * 1024', to: '1' }],
    });
    expect(await get()).toBe('body 1');
    await purgePrefix();
    const before = await readFile(log, 'utf8');
    await symlink('/dev/full', `${log}.new`);
    // The worker shortens the log before it serves.
    await edge.restart();
    // Reading /dev/full would not end.
    expect((await lstat(log)).isFile()).toBe(true);
    expect(await readFile(log, 'utf8')).toBe(before);
    await edge.restart();
    expect(await get()).toBe('body 2');
  });

  // Regression: nothing was logged.
  test('a purge that cannot be recorded is logged', async () => {
    const { edge, log, purgePrefix } = await startSite();
    await rm(log, { force: true });
    await symlink('/dev/full', log);
    await purgePrefix();
    expect(await edge.errors()).toContain(`cannot write ${log}`);
    await rm(log);
  });

  const file = 'edge/cache/purge_log.lua';
  /** Shortens the log whatever its size, and opens /dev/full where `condition` holds. */
  const full = (condition: string) => [
    { file, from: '4 * 1024 * 1024', to: '1' },
    { file, from: 'open(name, mode)', to: `open(${condition} and "/dev/full" or name, mode)` },
  ];
  /** The worker calls it by a timer. */
  const timesShortened = (times: number) => ({
    file: 'edge/runner.lua',
    from: 'purge_log.compact()',
    to: 'purge_log.compact() '.repeat(times),
  });

  // Regression: it was read and written again each minute.
  test('a purge log that cannot be shortened is tried again only at twice its size', async () => {
    const { edge, log, purgePrefix } = await startSite({
      zone: { worker: { processes: 1, connections: 1024 } },
      lua: [...full('name:find("new$")'), timesShortened(3)],
    });
    await purgePrefix();
    await edge.restart();
    expect((await edge.errors()).split(`cannot write ${log}.new`)).toHaveLength(2);
  });

  /**
   * While the log is shortened, lines of three files come from other workers: those of `LOG.early` while the shorter
   * log is written, those of `LOG.late` just before it replaces the log, those of `LOG.newer` just after it.
   */
  const withLines = ({ timesPerStart = 1, isFull = false }): EdgeOptions => ({
    zone: { worker: { processes: 1, connections: 1024 } },
    lua: [
      ...full('(function() local now = _M.is_full _M.is_full = false return now end)()'),
      timesShortened(timesPerStart),
      {
        file,
        from: 'local compacted_above',
        to: `function _M.append(ending)
          local text = (io.open(path() .. ending) or io.tmpfile()):read("*a")
          remove(path() .. ending)
          write(path(), "a", text)
          return text ~= ""
        end
        local compacted_above`,
      },
      { file, from: 'write(shorter, "w", text)', to: '(_M.append(".early") or true) and write(shorter, "w", text)' },
      {
        file,
        from: 'rename(shorter, path())',
        to: `(function()
          local is_late = _M.append(".late")
          local is_renamed = rename(shorter, path())
          _M.append(".newer")
          _M.is_full = is_late and ${isFull}
          return is_renamed
        end)()`,
      },
    ],
  });

  // Regression: the error was ignored, or the worker forgot it, and the purge was lost with the next restart.
  test.each([
    ['is written later', 2, true],
    ['is written when its worker exits', 1, false],
  ])('a purge that comes while the log is shortened %s', async (_, timesPerStart, isWrittenBefore) => {
    const { edge, host, site, log, get } = await startSite(withLines({ timesPerStart, isFull: true }));
    expect(await get()).toBe('body 1');
    await edge.purge(`http://${host}/other`);
    const time = Math.floor(Date.now() / 1000);
    const mark = { mark: 'hard_prefix', site: site.id, prefix: `${host}/below`, version: '1.1.1.1', time };
    await writeFile(`${log}.late`, `${JSON.stringify(mark)}\n`);
    await edge.restart();
    expect(await edge.errors()).toContain(`cannot write ${log}:`);
    expect((await readFile(log, 'utf8')).includes('1.1.1.1')).toBe(isWrittenBefore);
    await edge.restart();
    expect(await get()).toBe('body 2');
  });

  const byPrefix = (version: string) => (host: string) => ({ mark: 'hard_prefix', prefix: `${host}/below`, version });
  const byTag = () => ({ mark: 'hard_tag', tag: 'tag', at: Date.now() });
  const lineOf = (site: string, entry: object, time: number) => `${JSON.stringify({ site, ...entry, time })}\n`;
  // Regression: its line was the last one, and made the newer purge obsolete.
  test.each([
    ['by prefix', byPrefix('1.1.1.1'), byPrefix('2.2.2.2')],
    ['by tag', byTag, byTag],
    ['of the whole site', () => ({ moves: 1 }), byPrefix('2.2.2.2')],
  ])('a purge %s that is written later leaves newer ones valid', async (_, late, newer) => {
    const { edge, host, site, log, get } = await startSite(withLines({ timesPerStart: 2, isFull: true }));
    await edge.purge(`http://${host}/other`);
    const lateLine = lineOf(site.id, late(host), Date.now() / 1000);
    await appendFile(log, lateLine);
    await edge.restart();
    expect(await get()).toBe('body 1');
    await writeFile(`${log}.late`, lateLine);
    await writeFile(`${log}.newer`, lineOf(site.id, newer(host), Date.now() / 1000));
    await edge.restart();
    await edge.restart();
    expect(await get()).toBe('body 2');
  });

  // Regression: the worker that shortened the log wrote the line behind that of the newer purge.
  test.each([
    ['while the shorter log is written and before a clock is set back', 'early', 60],
    ['just before the shorter log replaces it', 'late', 0],
  ])('a purge that comes %s leaves newer ones valid', async (_, ending, secondsAhead) => {
    const { edge, host, site, log, get } = await startSite(withLines({}));
    await edge.purge(`http://${host}/other`);
    const line = lineOf(site.id, byPrefix('1.1.1.1')(host), Date.now() / 1000 + secondsAhead);
    await appendFile(log, line);
    await edge.restart();
    expect(await get()).toBe('body 1');
    await writeFile(`${log}.${ending}`, line);
    await writeFile(`${log}.newer`, lineOf(site.id, byPrefix('2.2.2.2')(host), Date.now() / 1000));
    await edge.restart();
    await edge.restart();
    expect(await get()).toBe('body 2');
  });
});

// Regression: the line went into the file that the shorter log had replaced.
test('a purge holds that a worker writes to the log it opened before another one shortened it', async () => {
  const file = 'edge/cache/purge_log.lua';
  const { edge, host, site, log, get } = await startSite({
    zone: { worker: { processes: 1, connections: 1024 } },
    lua: [
      { file, from: '4 * 1024 * 1024', to: '1' },
      {
        file,
        from: 'rename(shorter, path())',
        to: '(function() _M.opened = open(path(), "a") return rename(shorter, path()) end)()',
      },
      {
        file: 'edge/runner.lua',
        from: 'purge_log.compact()',
        to: `purge_log.compact()
        local lines = io.open(require("edge.core.settings").dir .. "/cache/purged.opened")
        if lines then
          purge_log.opened:write(lines:read("*a"))
          purge_log.opened:close()
        end`,
      },
    ],
  });
  expect(await get()).toBe('body 1');
  await edge.purge(`http://${host}/other`);
  const time = Math.floor(Date.now() / 1000);
  const mark = { mark: 'hard_prefix', site: site.id, prefix: `${host}/below`, version: '1.1.1.1', time };
  await writeFile(`${log}.opened`, `${JSON.stringify(mark)}\n`);
  await edge.restart();
  await rm(`${log}.opened`);
  await edge.restart();
  expect(await get()).toBe('body 2');
});

// Regression: the line joined the half one, and neither was read.
test('a purge holds after half a line of another one', async () => {
  const { edge, host, log, get, purgePrefix } = await startSite();
  expect(await get()).toBe('body 1');
  // The log belongs to a worker.
  await edge.purge(`http://${host}/other`);
  await appendFile(log, '{"site":"');
  await purgePrefix();
  await edge.restart();
  expect(await get()).toBe('body 2');
});

describe('a purge by prefix', () => {
  // Regression: the lengths of prefixes were forgotten thirty days after the first purge.
  test('holds for thirty days after an earlier one of the same length', async () => {
    const { edge, site, get, purgePrefix } = await startSite({ lua: [twentyDays] });
    expect(await get()).toBe('body 1');
    await purgePrefix();
    await edge.counters();
    await purgePrefix();
    await edge.counters();
    // Workers remember the marks until a document of the site changes.
    await edge.put(site);
    expect(await get()).toBe('body 2');
  });

  // Regression: its mark was kept for thirty days.
  test('holds for longer than the zone keeps files without requests', async () => {
    const { edge, site, get, purgePrefix } = await startSite({ lua: [twentyDays], zone: keptFor(30) });
    expect(await get()).toBe('body 1');
    await purgePrefix();
    for (let days = 0; days < 40; days += 20) await edge.counters();
    await edge.put(site);
    expect(await get()).toBe('body 2');
  });

  // Regression: its line of the log was ignored after thirty days.
  test('holds after a restart for longer than the zone keeps files without requests', async () => {
    const { edge, host, site, log, get } = await startSite({ zone: keptFor(365) });
    expect(await get()).toBe('body 1');
    const time = Math.floor(Date.now() / 1000) - 400 * 86_400;
    const mark = { mark: 'hard_prefix', site: site.id, prefix: `${host}/below`, version: '1.1.1.1', time };
    await writeFile(log, `${JSON.stringify(mark)}\n`);
    await edge.restart();
    expect(await get()).toBe('body 2');
  });
});

// Regression: entries of dictionaries that outlive a reload kept the lifetime that they were written with.
describe('a reload that keeps files for longer keeps purges for longer', () => {
  const purges: [string, number, (edge: Edge, site: string, host: string) => Promise<unknown>][] = [
    ['by prefix', 40, (edge, site, host) => edge.admin.purge({ site, prefixes: [`${host}/below`] }, 60_000)],
    ['by tag', 40, (edge, site) => edge.admin.purge({ site, tags: ['tag'] }, 60_000)],
    ['of a URL', 400, (edge, _, host) => edge.admin.purge({ urls: [`http://${host}/below/a`], soft: true }, 60_000)],
  ];
  test.each(purges)('%s', async (_, days, purge) => {
    const { edge, host, site, get } = await startSite({ lua: [twentyDays], zone: keptFor(10) });
    expect(await get()).toBe('body 1');
    await purge(edge, site.id, host);
    await edge.render(zoneDoc(edge.ports, keptFor(365)));
    await edge.reload();
    for (let passed = 0; passed < days; passed += 20) await edge.counters();
    await edge.put(site);
    expect(await get()).toBe('body 2');
  });
});

describe('the generation of a site that was purged as a whole', () => {
  const line = (site: string, moves: number, daysAgo: number) =>
    `${JSON.stringify({ site, moves, time: Math.floor(Date.now() / 1000) - daysAgo * 86_400 })}\n`;

  // Regression: it was forgotten after thirty days, and then counted through numbers of files on disk.
  test('does not expire', async () => {
    const { edge, site, log, get } = await startSite();
    expect(await get()).toBe('body 1');
    await writeFile(log, line(site.id, 1, 1000));
    await edge.restart();
    expect(await get()).toBe('body 2');
  });

  // Regression: the last line counted, which another worker than that with the highest number may have written.
  test('is the highest that was written', async () => {
    const { edge, site, log, get } = await startSite();
    await writeFile(log, line(site.id, 1, 0));
    await edge.restart();
    expect(await get()).toBe('body 1');
    await writeFile(log, line(site.id, 2, 0) + line(site.id, 1, 0));
    await edge.restart();
    expect(await get()).toBe('body 2');
  });

  // Regression: a lower number of another worker, written later, made all purges before its line obsolete.
  test('keeps purges between its line and a lower number', async () => {
    const { edge, host, site, log, get } = await startSite();
    await writeFile(log, line(site.id, 2, 0));
    await edge.restart();
    expect(await get()).toBe('body 1');
    const time = Math.floor(Date.now() / 1000);
    const mark = { mark: 'hard_prefix', site: site.id, prefix: `${host}/below`, version: '1.1.1.1', time };
    await appendFile(log, `${JSON.stringify(mark)}\n${line(site.id, 1, 0)}`);
    await edge.restart();
    expect(await get()).toBe('body 2');
  });

  // Regression: each restart counted from the log, which lacked the numbers that a full disk rejected.
  test('is never used twice when a full disk rejects its lines', async () => {
    const { edge, host, site, log, get } = await startSite({
      lua: [
        {
          file: 'edge/cache/purge_log.lua',
          from: 'path(), "a", "',
          to: 'entry.moves and "/dev/full" or path(), "a", "',
        },
      ],
    });
    // More purges than the log keeps of a site.
    const time = Math.floor(Date.now() / 1000);
    const purge = (i: number) =>
      `${JSON.stringify({ site: site.id, url: `${host}/${i}`, version: '1.1.1.1', time })}\n`;
    await writeFile(log, Array.from({ length: 10_001 }, (_, i) => purge(i)).join(''));
    const bodies = [];
    for (let restarts = 0; restarts < 2; restarts += 1) {
      await edge.restart();
      bodies.push(await get());
    }
    expect(bodies).toEqual(['body 1', 'body 2']);
  });

  // Regression: both added the time since the last one. The number was twice the time, and then counted by one.
  test('is at most the current time when two workers raise it at once', async () => {
    const { edge, host, site, log } = await startSite({
      lua: [
        { file: 'edge/cache/purge_log.lua', from: 'MOST_OF_SITE = 10000', to: 'MOST_OF_SITE = 1' },
        // A second call, between a worker's reads and its write, stands for the other worker.
        {
          file: 'edge/cache/site_generation.lua',
          from: 'changes:incr("moved|"',
          to: `(function()
            if not _M.is_raised then
              _M.is_raised = true
              _M.raise(site_id)
            end
            return changes
          end)():incr("moved|"`,
        },
      ],
    });
    const time = Math.floor(Date.now() / 1000);
    const purge = (path: string) =>
      `${JSON.stringify({ site: site.id, url: `${host}${path}`, version: '1.1.1.1', time })}\n`;
    await writeFile(log, purge('/a') + purge('/b'));
    await edge.restart();
    const numbers = [...(await readFile(log, 'utf8')).matchAll(/"moves":(\d+)/g)].map(([, number]) => Number(number));
    expect(new Set(numbers).size).toBe(2);
    expect(Math.max(...numbers)).toBeLessThanOrEqual(Date.now() + 1);
  });
});
