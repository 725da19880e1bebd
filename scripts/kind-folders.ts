import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Kind } from '../src/operator/index.ts'

const folder = 'src/operator/kinds'

/** The kinds of a checkout, from its folders: the source of the registry. */
export async function kindsOf(root: string): Promise<Kind[]> {
  const kinds = (await namesOf(root)).map(async (name) => {
    const url = pathToFileURL(join(root, folder, name, 'index.ts')).href
    const exported: Readonly<Record<string, Kind>> = await import(url)
    const kind = exported[exportOf(name)]
    if (kind === undefined) {
      throw new Error(`${folder}/${name}/index.ts: expected it to export ${exportOf(name)}`)
    }
    return kind
  })
  return Promise.all(kinds)
}

/** The registry, which imports the existing folders. */
export async function registryOf(root: string): Promise<{ path: string; content: string }> {
  const names = await namesOf(root)
  const content = [
    "import type { Kind } from '../contract.ts'",
    ...names.map((name) => `import { ${exportOf(name)} } from './${name}/index.ts'`),
    '',
    '/** Every kind; `make generate` writes this file from the folders beside it. */',
    ...listOf(names.map(exportOf)),
    '',
  ].join('\n')
  return { path: `${folder}/index.ts`, content }
}

async function namesOf(root: string): Promise<string[]> {
  const entries = await readdir(join(root, folder), { withFileTypes: true })
  return entries
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .toSorted()
}

/** `retention-policy` exports `retentionPolicyKind`. */
function exportOf(name: string): string {
  return `${name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase())}Kind`
}

/** In Biome's format, on one line if it fits. */
function listOf(names: readonly string[]): string[] {
  const line = `export const kinds: readonly Kind[] = [${names.join(', ')}]`
  if (line.length <= 100) return [line]
  return ['export const kinds: readonly Kind[] = [', ...names.map((name) => `  ${name},`), ']']
}
