import { execFile } from 'node:child_process'
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'

const repository = join(import.meta.dirname, '../..')
const detectors = 'src/capabilities/detection/detectors'
const run = promisify(execFile)

/** Follows docs/guides/write-a-detector.md in a copy of the repository. */
let copy: string

beforeAll(async () => {
  copy = await mkdtemp(join(tmpdir(), 'looptrace-guide-'))
  const tests = ['corpus', 'support', 'fixtures/emissions', 'tools/emissions']
  const parts = [
    'src',
    'scripts',
    'bench',
    'docs/reference',
    ...tests.map((part) => `test/${part}`),
  ]
  for (const part of parts) {
    await cp(join(repository, part), join(copy, part), { recursive: true })
  }
  for (const file of ['package.json', 'tsconfig.json']) {
    await cp(join(repository, file), join(copy, file))
  }
  await symlink(join(repository, 'node_modules'), join(copy, 'node_modules'))
  const guide = await readFile(join(repository, 'docs/guides/write-a-detector.md'), 'utf8')
  const blocks = [...guide.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, block = '']) => block)
  expect(blocks).toHaveLength(4)
  const [detector = '', test = '', imported = '', line = ''] = blocks
  await writeFile(join(copy, detectors, 'failures/apologies.ts'), detector)
  await writeFile(join(copy, detectors, 'failures/apologies.test.ts'), test)
  const index = await readFile(join(repository, detectors, 'index.ts'), 'utf8')
  const list = 'failureDetectors: readonly Detector[] = [\n'
  expect(index).toContain(list)
  await writeFile(join(copy, detectors, 'index.ts'), imported + index.replace(list, list + line))
})

afterAll(() => rm(copy, { recursive: true }))

test('its test is green', async () => {
  const vitest = join(repository, 'node_modules/vitest/vitest.mjs')
  const file = join(detectors, 'failures/apologies.test.ts')
  const { stdout } = await run(process.execPath, [vitest, 'run', file], { cwd: copy })
  expect(stdout).toContain('2 passed')
})

test('its thresholds are settings of every project', async () => {
  const program = `import { defaultDetectionSettings } from './src/capabilities/detection/settings/detector-settings.ts'
    console.log(JSON.stringify(defaultDetectionSettings().apologies))`
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', program], {
    cwd: copy,
  })
  expect(JSON.parse(stdout)).toEqual({ enabled: true, repeats: 3 })
})

test('no labelled run has a changed result', async () => {
  const { stdout } = await run(process.execPath, ['scripts/verdicts.ts'], { cwd: copy })
  const was = await readFile(join(repository, 'docs/reference/verdicts.md'), 'utf8')
  const rows = (page: string) => page.split('\n').filter((row) => row.startsWith('| `'))
  const now = rows(stdout)
  expect(now.length).toBeGreaterThan(30)
  expect(now.filter((row) => !row.startsWith('| `apologies`'))).toEqual(rows(was))
})
