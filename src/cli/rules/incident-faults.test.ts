import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { runTest } from './run-test.ts'
import { loadTests } from './test-rules.ts'

/** Test files of `looptrace test`, each about a fault that people saw. */
const folder = 'test/fixtures/incident-faults'
const files = (await readdir(folder)).filter((name) => name.endsWith('_test.yaml'))

const noStdin = { stdin: () => Promise.reject(new Error('no input')) }

describe.each(files)('%s', async (name) => {
  const file = { name: join(folder, name), text: await readFile(join(folder, name), 'utf8') }
  const { faults, tests, evaluation_interval } = await loadTests(file, noStdin)

  test('is a valid file with tests', () => {
    expect(faults).toEqual([])
    expect(tests.length).toBeGreaterThan(0)
  })

  test.each(tests.map((one) => [one.name, one] as const))('%s', (_, one) => {
    const { failures, timeline } = runTest(one, evaluation_interval)
    expect(failures, timeline.join('\n')).toEqual([])
  })
})
