import { mkdir, writeFile } from 'node:fs/promises'
import { registryOf } from './kind-folders.ts'

const root = new URL('..', import.meta.url)

/**
 * Writes all generated files; `make check` fails if one is not fresh. The registry of kinds
 * comes first, because other generators import it and a kind's folder may be new or deleted.
 */
await write(await registryOf(root.pathname))
const { generatedFiles } = await import('./generated-files.ts')
for (const file of await generatedFiles()) {
  await write(file)
  console.log(file.path)
}

async function write({ path, content }: { path: string; content: string }): Promise<void> {
  const url = new URL(path, root)
  await mkdir(new URL('.', url), { recursive: true })
  await writeFile(url, content)
}
