import { createHash } from 'node:crypto'
import { glob, readdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { builtOnce } from './build-once.ts'

const repository = join(import.meta.dirname, '../..')
/** In the checkout, so that the bundle finds the packages beside it in node_modules. */
const bundles = join(repository, 'dist/bundles')
/** Bundles of earlier sources are kept this long, because a run of the tests may still use them. */
const kept_ms = 24 * 3_600_000

/** All files of a checkout that a bundle is made of. */
const bundled = [
  'src/**',
  'console/src/**',
  'console/*.*',
  'scripts/bundle/*.ts',
  'package.json',
  'package-lock.json',
]

/**
 * The folder of a bundle of the present sources, as in the images. It is built at the first import
 * after a change, which takes a few seconds.
 */
export const bundle: string = await builtOnce(
  join(bundles, await hashSources(repository)),
  async (folder) => {
    await removeOldBundles()
    const { writeBundle } = await import('../../scripts/bundle/bundle.ts')
    await writeBundle(folder)
  },
)

/** The service's `main.js`, which processes of tests run with Node. */
export const main: string = join(bundle, 'src/main.js')

/** Hashes files of a checkout, by default those of a bundle: one changed byte gives another hash. */
export async function hashSources(checkout: string, parts = bundled): Promise<string> {
  const hash = createHash('sha256')
  const found = await Array.fromAsync(glob(parts, { cwd: checkout, withFileTypes: true }))
  const files = found
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.test.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
  for (const file of files) {
    const content = await readFile(file)
    hash.update(`${file.slice(checkout.length)}\0${content.length}\0`).update(content)
  }
  return hash.digest('hex').slice(0, 16)
}

async function removeOldBundles(): Promise<void> {
  for (const name of await readdir(bundles)) {
    const path = join(bundles, name)
    const age_ms = Date.now() - (await stat(path)).mtimeMs
    if (age_ms > kept_ms) await rm(path, { recursive: true, force: true })
  }
}
