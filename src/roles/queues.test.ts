import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock } from '../kernel/time.ts'
import { loadConfig } from '../platform/config/index.ts'
import { createLogger } from '../platform/telemetry/index.ts'
import { openCallJournal } from './queues.ts'

let directory: string

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'looptrace-role-journal-'))
})

afterAll(() => rm(directory, { recursive: true }))

async function open(data_directory: string) {
  await using parts = new AsyncDisposableStack()
  const logger = createLogger({ role: 'test', level: 'silent' })
  const config = loadConfig('all', { LOOPTRACE_DATA_DIRECTORY: data_directory })
  const { isKept } = await openCallJournal({ logger, clock: systemClock, parts }, config, 'all')
  return isKept
}

test('a role starts without a journal where its folder is not usable', async () => {
  expect(await open(directory)).toBe(true)
  const file = join(directory, 'file')
  await writeFile(file, '')
  expect(await open(file)).toBe(false)
})
