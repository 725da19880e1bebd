import { glob, readFile } from 'node:fs/promises'
import { basename, dirname, join, posix, relative } from 'node:path'
import type { Plugin } from 'rolldown'

/**
 * How a module names its neighbours: `new URL('./page-thread.ts', import.meta.url)`, also with a
 * template that begins with a folder, and `createRequire(import.meta.url)('./tokenizer.ts')`.
 */
const ways = [
  /(new URL\(\s*['`])(\.[^'`]+)(['`],\s*import\.meta\.url,?\s*\))/g,
  /(createRequire\(import\.meta\.url\)\(['`])(\.[^'`]+)(['`]\))/g,
]

/** How a module names a file of a package that it reads: `createRequire(…).resolve('name/file.js')`. */
const packageFile =
  /(createRequire\(import\.meta\.url\)\.resolve\(\s*')([^.'][^']*\/[^']+\.(?:css|js))(')/g

/** Other uses that mean the same in a bundle: packages beside it, and the path of an entry. */
const others = /createRequire\(import\.meta\.url\)\.resolve\(|import\.meta\.filename/g

/** Files that the sources name by `import.meta.url`, with paths from `src`. */
export type Neighbours = {
  /** Modules that start as a thread or a process, or are loaded with their first use. */
  entries: readonly string[]
  /** Files and folders that are read. */
  data: readonly string[]
  /** Files of packages that are read: `name/file.js`. */
  packageFiles: readonly string[]
}

/** Finds the files that the modules of a folder `src` name by `import.meta.url`. */
export async function findNeighbours(src: string): Promise<Neighbours> {
  const found = new Set<string>()
  const packageFiles = new Set<string>()
  for await (const module of glob('**/*.ts', { cwd: src, exclude: ['**/*.test.ts'] })) {
    const code = await readFile(join(src, module), 'utf8')
    for (const [, , path = ''] of ways.flatMap((way) => [...code.matchAll(way)])) {
      found.add(pathFrom(module, path.replace(/\/\$\{.*$/, '')))
    }
    for (const [, , file = ''] of code.matchAll(packageFile)) packageFiles.add(file)
  }
  const paths = [...found].sort()
  return {
    entries: paths.filter((path) => path.endsWith('.ts')),
    data: paths.filter((path) => !path.endsWith('.ts') && !path.startsWith('..')),
    packageFiles: [...packageFiles].sort(),
  }
}

/** Path from the code of a bundle to its copy of a file of a package. */
export function packageFileInBundle(file: string): string {
  return `./packages/${file}`
}

/** Name of an entry: the name of its file, because all code of a bundle is in one folder. */
export function entryName(module: string): string {
  return basename(module, '.ts')
}

/**
 * Names neighbours as they are found from the folder of a bundle's code: a module as an entry of
 * that folder, data with its path from `src`. Refuses other uses of `import.meta`, which would mean
 * something else in a bundle.
 */
export function renameNeighbours(src: string): Plugin {
  return {
    name: 'neighbours',
    transform(code, id) {
      if (!id.startsWith(`${src}/`) || !code.includes('import.meta')) return null
      const module = relative(src, id)
      const unknown = [...ways, others].reduce((text, way) => text.replaceAll(way, ''), code)
      if (unknown.includes('import.meta')) {
        this.error(`${id}: expected new URL('./…', import.meta.url), which a bundle can rename`)
      }
      const rename = (_: string, before: string, path: string, after: string) =>
        `${before}${pathInBundle(pathFrom(module, path))}${after}`
      const renamed = ways.reduce((text, way) => text.replaceAll(way, rename), code)
      return renamed.replaceAll(
        packageFile,
        (_: string, before: string, file: string, after: string) =>
          `${before}${packageFileInBundle(file)}${after}`,
      )
    },
  }
}

/** Returns a path from `src` as a module of the bundle names it. */
function pathInBundle(path: string): string {
  const renamed = path.endsWith('.ts') ? `${entryName(path)}.js` : path
  return renamed.startsWith('.') ? renamed : `./${renamed}`
}

/** Returns a path that a module names as a path from `src`. */
function pathFrom(module: string, path: string): string {
  return posix.join(dirname(module), path)
}
