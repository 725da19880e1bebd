import { existsSync } from 'node:fs'
import { readdir, readFile, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** Only at the top of a package: deeper, `doc` may be code. */
const needlessFolders = new Set([
  ...['test', 'tests', '__tests__', 'docs', 'doc', 'example', 'examples', 'benchmark'],
  ...['benchmarks', 'coverage', '.github', '.vscode', 'man', 'fuzz'],
])

/**
 * Removes from a node_modules folder the packages that a bundle does not need beside it, and unused
 * files of the others: types, source maps, readmes, and their tests, docs and examples. Licences
 * stay. `node prune-modules.ts <node_modules> <package.json of the bundle>`
 */
const [folder, manifest] = process.argv.slice(2)
if (folder === undefined || manifest === undefined) {
  throw new TypeError('expected a node_modules folder and the package.json of a bundle')
}
const needed = await packagesFor(manifest)
const packages = await packagesIn(folder)
let removed = 0
for (const one of packages) {
  if (needed.has(one)) removed += await prune(one)
  else await rm(one, { recursive: true, force: true })
}
const counts = `${needed.size} of ${packages.length} packages stay, without ${removed} files and folders`
console.log(`${folder}: ${counts}`)

/** Returns the folders of the installed packages that a package.json needs, also indirectly. */
async function packagesFor(first: string): Promise<Set<string>> {
  const found = new Set<string>()
  const manifests = [first]
  for (const file of manifests) {
    const { dependencies, optionalDependencies } = JSON.parse(await readFile(file, 'utf8'))
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      const nested = join(dirname(file), 'node_modules', name)
      const path = existsSync(nested) ? nested : join(folder ?? '', name)
      // A package for another kind of machine is not installed.
      if (found.has(path) || !existsSync(path)) continue
      found.add(path)
      manifests.push(join(path, 'package.json'))
    }
  }
  return found
}

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
