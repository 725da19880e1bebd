import { readdir, readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { generatedFiles } from '../scripts/generated-files.ts'
import { commentsIn, findHardToRead, sentencesIn } from './support/plain-english.ts'

/** Comments that use a word of the list. The number may fall, and never rise. */
const comments_max = 2

async function filesOf(folder: string, pattern: RegExp): Promise<string[]> {
  const names = await readdir(folder, { recursive: true })
  return names.filter((name) => pattern.test(name)).map((name) => `${folder}/${name}`)
}

const sources = (await filesOf('src', /\.[jt]s$/)).filter((name) => !name.endsWith('.test.ts'))

test('errors, logs, help texts and descriptions in the code', async () => {
  const found: object[] = []
  for (const file of sources) {
    const hard = findHardToRead(sentencesIn(await readFile(file, 'utf8')))
    found.push(...hard.map((text) => ({ file, ...text })))
  }
  expect(found).toEqual([])
})

test('the reference, the guides, the README, the pages for browsers and the chart', async () => {
  const pages = [
    ...['README.md', ...(await filesOf('docs/guides', /\.md$/))],
    ...(await filesOf('src', /\.html$/)),
  ]
  const texts = await Promise.all(
    [...pages, ...(await filesOf('charts', /(\.txt|values\.yaml)$/))].map(async (path) => ({
      path,
      content: await readFile(path, 'utf8'),
    })),
  )
  const found = [...texts, ...(await generatedFiles())].flatMap(({ path, content }) =>
    findHardToRead(content.split('\n')).map((text) => ({ path, ...text })),
  )
  expect(found).toEqual([])
})

test('comments', async () => {
  const all = await Promise.all(sources.map((file) => readFile(file, 'utf8')))
  const found = all.flatMap((source) => findHardToRead(commentsIn(source)))
  expect(found.length).toBeLessThanOrEqual(comments_max)
})
