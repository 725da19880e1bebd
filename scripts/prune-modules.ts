import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'

/** Only at the top of a package: deeper, `doc` may be code. */
const needlessFolders = new Set([
  ...['test', 'tests', '__tests__', 'docs', 'doc', 'example', 'examples', 'benchmark'],
  ...['benchmarks', 'coverage', '.github', '.vscode', 'man', 'fuzz'],
])

/**
 * Removes unused files from a node_modules folder: types, source maps, readmes, and the tests, docs
 * and examples of packages. Licences stay. `node prune-modules.ts <node_modules>`
 */
const folder = process.argv[2]
if (folder === undefined) throw new TypeError('which node_modules folder?')
let removed = 0
for (const one of await packagesIn(folder)) removed += await prune(one)
console.log(`${folder}: removed ${removed} files and folders`)

/** Files for people, compilers and debuggers; Node runs no TypeScript of a package. */
function isNeedless(name: string): boolean {
  if (/^(licen[cs]e|notice|copying)/i.test(name)) return false
  return /\.(map|md|markdown|[cm]?ts|tsbuildinfo|flow)$/i.test(name)
}

async function packagesIn(modules: string): Promise<string[]> {
  const entries = await readdir(modules, { withFileTypes: true })
  const found = await Promise.all(
    entries.map(async (entry) => {
      if (!entry.isDirectory() || entry.name.startsWith('.')) return []
      const path = join(modules, entry.name)
      if (entry.name.startsWith('@')) return packagesIn(path)
      const nested = await packagesIn(join(path, 'node_modules')).catch(() => [])
      return [path, ...nested]
    }),
  )
  return found.flat()
}

async function prune(root: string): Promise<number> {
  const entries = await readdir(root, { withFileTypes: true, recursive: true })
  const needless = entries.filter((entry) => {
    if (entry.parentPath.includes(`${root}/node_modules`)) return false
    if (entry.isDirectory()) return entry.parentPath === root && needlessFolders.has(entry.name)
    return isNeedless(entry.name)
  })
  for (const { parentPath, name } of needless) {
    await rm(join(parentPath, name), { recursive: true, force: true })
  }
  return needless.length
}
