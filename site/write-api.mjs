import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Application, ReflectionKind } from 'typedoc';
import { ENTRY_GROUPS, entryGroupOf } from './sidebar.mjs';
import { ROOT } from './where.mjs';

/** Each entry of the package that is imported, by its source. */
const readEntries = () => {
  const { name, exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  return Object.fromEntries(
    Object.entries(exports).flatMap(([path, { import: entry }]) => {
      const source = /^\.\/dist\/(.+)\.d\.ts$/.exec(entry?.types)?.[1];
      return source ? [[`src/${source}.ts`, name + path.slice(1)]] : [];
    }),
  );
};

/** The page that leads to the others, by who imports an entry, in place of TypeDoc's one list. */
const indexOf = (names) => {
  const groups = ENTRY_GROUPS.toReversed().map(([group]) => [
    `## ${group}`,
    names
      .filter((name) => entryGroupOf(name) === group)
      .toSorted()
      .map((name) => `- [${name}](${name.replaceAll('/', '.')}.md)`)
      .join('\n'),
  ]);
  return `# API\n\nEach entry of the package, from its types and their comments.\n\n${groups.flat().join('\n\n')}\n`;
};

/** Writes a page for each entry, from the types of its source and what their comments say. Returns their names. */
export const writeApi = async (pages) => {
  const entries = readEntries();
  const app = await Application.bootstrapWithPlugins({
    entryPoints: Object.keys(entries).map((source) => join(ROOT, source)),
    tsconfig: join(ROOT, 'tsconfig.json'),
    out: join(pages, 'api'),
    name: 'API',
    readme: 'none',
    // The project's own check reads these sources.
    skipErrorChecking: true,
    logLevel: 'Warn',
    // Lines change with each commit, and the site does not.
    disableSources: true,
    plugin: ['typedoc-plugin-markdown'],
    router: 'module',
    entryFileName: 'index.md',
    modulesFileName: 'index',
    flattenOutputFiles: true,
    hideBreadcrumbs: true,
    hidePageHeader: true,
    useCodeBlocks: true,
    expandObjects: true,
    useHTMLAnchors: true,
    parametersFormat: 'table',
    interfacePropertiesFormat: 'table',
    typeDeclarationFormat: 'table',
    typeAliasPropertiesFormat: 'table',
    tableColumnSettings: { hideSources: true, hideInherited: true, hideOverrides: true },
  });
  const project = await app.convert();
  if (!project) throw new Error('TypeDoc found no types.');
  // TypeDoc names a module by its source. The names decide the names of the pages, too.
  for (const module of project.children) {
    const { packagePath, fileName } = project.getSymbolIdFromReflection(module);
    module.name = entries[packagePath ?? fileName] ?? module.name;
  }
  // `this: void` says that a method needs none, which the page says once.
  for (const signature of project.getReflectionsByKind(ReflectionKind.CallSignature)) {
    signature.parameters = signature.parameters?.filter(({ name }) => name !== 'this');
  }
  await app.generateOutputs(project);
  writeFileSync(join(pages, 'api/index.md'), indexOf(Object.values(entries)));
  if (app.logger.hasErrors()) throw new Error('TypeDoc failed.');
};
