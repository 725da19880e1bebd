import { expect, test } from 'vitest'
import { compareSchema, parseMigration } from '../platform/migrations/index.ts'
import { assertCurrent, MoveRefused } from './move-source.ts'

const files = ['0001_schema', '0002_more'].map((name) =>
  parseMigration(`${name}.sql`, `select '${name}'`),
)

/** Compares the migrations of this code with those that a store says it has. */
function assertApplied(...names: string[]): Promise<void> {
  const applied = names.map((name, at) => {
    const checksum = files[at]?.name === name ? files[at].checksum : 'c'.repeat(64)
    return { version: at + 1, name, checksum, finished: true }
  })
  return assertCurrent(async () => [compareSchema(files, applied)])
}

test('the schema of this code can be moved', async () => {
  await expect(assertApplied('0001_schema', '0002_more')).resolves.toBeUndefined()
})

test('an earlier schema is migrated by one start', async () => {
  await expect(assertApplied('0001_schema')).rejects.toThrow(
    /^the embedded installation has an earlier schema\. Start it once with this version/,
  )
})

test.each([
  ['of an earlier commit', ['0001_access', '0002_more'], 'no migration leads from'],
  ['of a later version', ['0001_schema', '0002_more', '0003_new'], 'use a newer version'],
])('a schema %s is not started, but moved by its own version', async (_case, names, reason) => {
  const error = await assertApplied(...names).catch((refused: unknown) => refused)
  expect(error).toBeInstanceOf(MoveRefused)
  expect(String(error)).toContain(reason)
  expect(String(error)).toContain('Move it with the version that made its schema')
  expect(String(error)).not.toContain('Start it once')
})

test('an error of a store is not a refusal', async () => {
  const lost = () => Promise.reject(new Error('connection lost'))
  await expect(assertCurrent(lost)).rejects.toThrow(/^connection lost$/)
})
