// Few, large chunks: the sign-in form with shared modules, the frame with the dashboards, the other pages by the
// consoles that have them, and large libraries. A module's importers decide its chunk.
import path from 'node:path';
import type { Rolldown } from 'vite';

type Graph = Rolldown.ChunkingContext;

const root = path.join(import.meta.dirname, '..');
const consoles = ['user', 'client', 'admin'] as const;
const frame =
  /\/consoles\/(?:\w+\/frame|signed-in)\.tsx$|\/lib\/i18next-phrases\.ts$|\/features\/dashboard\/[\w-]+-page\.tsx$/;
const libraries = {
  // Before the charts: the module that draws maps uses both.
  maps: /\/node_modules\/(?:world-atlas|topojson-client|d3-geo)\//,
  charts: /\/node_modules\/(?:echarts|zrender)\//,
  editor: /\/node_modules\/(?:@codemirror|@lezer)\//,
};

const drawings =
  /\/components\/chart\/[\w-]+\.(?:tsx?|module\.css)$|\/features\/dashboard\/(?:young-charts|refused-tab)\.tsx$|\/features\/statistics\/(?:series-drawings|refused)\.ts$/;

// Libraries are not listed: each goes with the first group that uses it.
const isOurs = (id: string) => !id.includes('/node_modules/');

/** These modules, and all modules of the console that `next` leads to. */
function closure(starts: readonly string[], next: (id: string) => readonly string[]): Set<string> {
  const found = new Set(starts);
  for (const id of found) for (const other of next(id)) if (isOurs(other)) found.add(other);
  return found;
}

function plan(graph: Graph) {
  const imports = (id: string) => graph.getModuleInfo(id)?.importedIds ?? [];
  const importers = (id: string) => graph.getModuleInfo(id)?.importers ?? [];
  const everyImport = (id: string) => [...imports(id), ...(graph.getModuleInfo(id)?.dynamicallyImportedIds ?? [])];

  const start = path.join(root, 'index.html');
  const all = [...closure([start], everyImport)];
  const users = (library: RegExp) =>
    closure(
      all.filter((id) => imports(id).some((imported) => library.test(imported))),
      importers,
    );
  return {
    main: closure([start], imports),
    frame: closure(
      all.filter((id) => frame.test(id)),
      imports,
    ),
    libraries: Object.entries(libraries).map(([name, library]) => ({ name, users: users(library) })),
    pages: consoles.map((name) => ({
      name,
      modules: closure([path.join(root, `src/consoles/${name}/routes.tsx`)], everyImport),
    })),
  };
}

export function chunks(): Rolldown.CodeSplittingOptions {
  let made: ReturnType<typeof plan> | null = null;
  const planOf = (graph: Graph) => (made ??= plan(graph));
  const libraryOf = (id: string, graph: Graph) =>
    planOf(graph).libraries.find(({ users }) => users.has(id))?.name ?? null;
  /** Pages of so many consoles. Each language file is its own chunk. */
  const pagesOf = (count: number) => (id: string, graph: Graph) => {
    const names = planOf(graph).pages.flatMap(({ name, modules }) => (modules.has(id) ? name : []));
    const isPage = names.length === count && !id.includes('/locales/') && libraryOf(id, graph) === null;
    return isPage ? `pages-${names.join('-')}` : null;
  };
  return {
    // The earlier group takes what both use.
    groups: [
      {
        debugName: 'main',
        name: (id, graph) =>
          planOf(graph).main.has(id) || /rolldown\/runtime|\/locales\/by-feature\.ts$/.test(id) ? 'main' : null,
      },
      { debugName: 'frame', name: (id, graph) => (planOf(graph).frame.has(id) ? 'frame' : null) },
      // Components that draw charts, without the library. Dashboards load it with their first data.
      {
        debugName: 'drawings',
        name: (id, graph) => (drawings.test(id) && libraryOf(id, graph) === null ? 'drawings' : null),
      },
      ...[3, 2, 1].map((count) => ({ debugName: `pages of ${count}`, name: pagesOf(count) })),
      { debugName: 'libraries', name: libraryOf },
    ],
  };
}
