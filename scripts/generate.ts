import { mkdir, writeFile } from 'node:fs/promises'
import { generatedFiles } from './generated-files.ts'

/** Writes everything that is generated; `test/tidy.test.ts` holds that it is fresh. */
for (const { path, content } of await generatedFiles()) {
  const url = new URL(`../${path}`, import.meta.url)
  await mkdir(new URL('.', url), { recursive: true })
  await writeFile(url, content)
  console.log(path)
}
