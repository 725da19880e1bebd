import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'

/** Only at the top of a package: deeper, `doc` may be code. */
const needlessFolders = new Set([
  ...['test', 'tests', '__tests__', 'docs', 'doc', 'example', 'examples', 'benchmark'],
  ...['benchmarks', 'coverage', '.github', '.vscode', 'man', 'fuzz'],
])

/**
 * Packages that no process loads. The SDK of OpenTelemetry loads all its exporters at its start, so
 * they stay; its gRPC client loads a reader of .proto files only for channelz and ORCA, which we do
 * not use. The bare-* packages are for the runtime Bare.
 */
const needlessPackages = [
  ...['bare-buffer', 'bare-fs', 'bare-path', 'bare-stream', 'bare-url'],
  ...['@grpc/proto-loader', 'protobufjs', '@protobufjs', 'long', 'lodash.camelcase'],
  ...['yargs', 'yargs-parser', 'y18n', 'cliui', 'escalade', 'get-caller-file'],
  ...['require-directory', 'string-width', 'emoji-regex', 'is-fullwidth-code-point'],
  ...['strip-ansi', 'ansi-regex', 'wrap-ansi', 'ansi-styles', 'color-convert', 'color-name'],
]

/**
 * Removes unused files from a node_modules folder: types, source maps, readmes, and the tests, docs
 * and examples of packages. Licences stay. `node prune-modules.ts <node_modules>`
 */
const folder = process.argv[2]
if (folder === undefined) throw new TypeError('which node_modules folder?')
for (const name of needlessPackages) await rm(join(folder, name), { recursive: true, force: true })
let removed = 0
for (const one of await packagesIn(folder)) removed += await prune(one)
console.log(`${folder}: removed ${needlessPackages.length} packages, ${removed} files and folders`)

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
