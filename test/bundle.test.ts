import { glob, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { rolldown } from 'rolldown'
import { expect, test } from 'vitest'
import { renameNeighbours } from '../scripts/bundle/neighbours.ts'
import { bundle, hashSources } from './support/bundle.ts'

const code = join(bundle, 'src')

async function temporaryFolder(parts: AsyncDisposableStack): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'looptrace-bundle-'))
  parts.defer(() => rm(folder, { recursive: true }))
  return folder
}

test('every file that the code of a bundle names by import.meta.url is in the bundle', async () => {
  const named = new Set<string>()
  for (const file of (await readdir(code)).filter((name) => name.endsWith('.js'))) {
    const text = await readFile(join(code, file), 'utf8')
    for (const way of [
      /["'`](\.[^"'`]+)["'`], import\.meta\.url/g,
      /createRequire\(import\.meta\.url\)\.resolve\(["'](\.[^"']+)["']/g,
    ]) {
      for (const [, path = ''] of text.matchAll(way)) named.add(path.replace(/\/\$\{.*$/, ''))
    }
  }
  // Made by the first start.
  named.delete('../.cache/compiled')
  expect(named.size).toBeGreaterThanOrEqual(14)
  expect([...named]).toContain('./packages/swagger-ui-dist/swagger-ui-bundle.js')
  for (const path of named) expect((await stat(join(code, path))).size, path).toBeGreaterThan(0)
})

test('no module is imported for what its import does: a bundle would leave it out', async () => {
  const acting: string[] = []
  for await (const file of glob('src/**/*.ts')) {
    if (/^import ['"]\./m.test(await readFile(file, 'utf8'))) acting.push(file)
  }
  expect(acting).toEqual([])
})

/** Rooms of `src/capabilities` of which a proxy loads code. */
const proxyRooms = ['access', 'documents', 'edge', 'ledger', 'records', 'storage']

test('a proxy loads the code of its own path only', async () => {
  const loaded = new Set<string>()
  const load = async (file: string): Promise<string[]> => {
    if (loaded.has(file)) return []
    loaded.add(file)
    const text = await readFile(join(code, file), 'utf8')
    const imports = text.matchAll(/^(?:import|export) [^;]*?["']\.\/([^"']+)["'];/gm)
    const below = await Promise.all(Array.from(imports, ([, name = '']) => load(name)))
    const own = Array.from(
      text.matchAll(/^\/\/ ?#?(?:region )?(src\/\S+)/gm),
      ([, path = '']) => path,
    )
    return [...own, ...below.flat()]
  }
  const entry = (await readdir(code)).find((name) => /^proxy-.*\.js$/.test(name)) ?? ''
  const modules = await load(entry)
  expect(modules).toContain('src/roles/proxy.ts')
  const rooms = modules.filter((path) => path.startsWith('src/capabilities/'))
  const names = new Set(rooms.map((path) => path.split('/')[2] ?? ''))
  expect([...names].toSorted()).toEqual(proxyRooms)
})

test('a package of the bundle is a locked production dependency, and its licence is in the bundle', async () => {
  const { bundledPackages } = JSON.parse(await readFile(join(bundle, 'package.json'), 'utf8'))
  const licences = await readFile(join(bundle, 'licences.txt'), 'utf8')
  const lock = JSON.parse(await readFile('package-lock.json', 'utf8'))
  const locked = new Set<string>()
  for (const [path, { version, dev, optional }] of Object.entries<Locked>(lock.packages)) {
    if (!dev && !optional) locked.add(`${path.split('node_modules/').at(-1)}@${version}`)
  }
  expect(bundledPackages.length).toBeGreaterThan(100)
  for (const id of bundledPackages) {
    expect(locked.has(id), id).toBe(true)
    expect(licences).toContain(`\n${id} (`)
  }
  for (const name of ['fastify', 'pg', 'kysely', 'swagger-ui-dist']) {
    expect(bundledPackages.some((id: string) => id.startsWith(`${name}@`))).toBe(true)
  }
})

type Locked = { version?: string; dev?: true; optional?: true }

test('a use of import.meta that would mean something else in a bundle is refused', async () => {
  await using parts = new AsyncDisposableStack()
  const folder = await temporaryFolder(parts)
  const input = join(folder, 'module.ts')
  const bundled = async (text: string) => {
    await writeFile(input, text)
    const build = await rolldown({ input, platform: 'node', plugins: [renameNeighbours(folder)] })
    return (await build.generate({ format: 'esm' })).output[0].code
  }
  expect(await bundled("export const file = new URL('./a/b.ts', import.meta.url)")).toContain(
    'new URL("./b.js", import.meta.url)',
  )
  const reading = (file: string) =>
    bundled(
      `import { createRequire } from 'node:module'
      export const path = createRequire(import.meta.url).resolve('${file}')`,
    )
  expect(await reading('name/dist/a.js')).toContain('resolve("./packages/name/dist/a.js")')
  expect(await reading('@of/name')).toContain('resolve("@of/name")')
  await expect(bundled('export const here = import.meta.dirname')).rejects.toThrow(
    "expected new URL('./…', import.meta.url)",
  )
})

test('one changed byte of a source gives another bundle', async () => {
  await using parts = new AsyncDisposableStack()
  const folder = await temporaryFolder(parts)
  await mkdir(join(folder, 'src/kernel'), { recursive: true })
  const hashes = new Set<string>()
  for (const text of ['const a = 1', 'const a = 2', 'const a = 1 ']) {
    await writeFile(join(folder, 'src/kernel/a.ts'), text)
    hashes.add(await hashSources(folder))
  }
  await writeFile(join(folder, 'src/kernel/b.sql'), '')
  hashes.add(await hashSources(folder))
  await writeFile(join(folder, 'package-lock.json'), '{}')
  hashes.add(await hashSources(folder))
  expect(hashes.size).toBe(5)
})
