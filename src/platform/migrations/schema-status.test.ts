import { expect, test } from 'vitest'
import { parseMigration } from './migration-files.ts'
import { type AppliedMigration, assertSchemaCurrent, compareSchema } from './schema-status.ts'

const files = ['0001_a', '0002_b'].map((name) => parseMigration(`${name}.sql`, `select '${name}'`))

function row(version: number, changes: Partial<AppliedMigration> = {}): AppliedMigration {
  const file = files[version - 1]
  const name = file?.name ?? `000${version}_new`
  const checksum = file?.checksum ?? 'a'.repeat(64)
  return { version, name, checksum, finished: true, ...changes }
}

test('in an empty database, all migrations are pending', () => {
  const status = compareSchema(files, [])
  expect(status).toEqual({ current: 0, latest: 2, pending: ['0001_a', '0002_b'], newer: [] })
  expect(() => assertSchemaCurrent(status)).toThrow('at 0 of 2: run migrate for 0001_a, 0002_b')
})

test('only finished migrations count as applied', () => {
  const halfway = row(2, { finished: false })
  expect(compareSchema(files, [row(1), halfway])).toMatchObject({ current: 1, pending: ['0002_b'] })
  const done = compareSchema(files, [row(1), row(2)])
  expect(done).toEqual({ current: 2, latest: 2, pending: [], newer: [] })
  expect(() => assertSchemaCurrent(done)).not.toThrow()
})

test('a newer database is reported, and fails the check', () => {
  const status = compareSchema(files, [row(1), row(2), row(3)])
  expect(status).toEqual({ current: 3, latest: 2, pending: [], newer: ['0003_new'] })
  expect(() => assertSchemaCurrent(status)).toThrow('has 0003_new, this code ends at 2')
})

test('rejects a changed file and a file numbered below an applied one', () => {
  const changed = row(1, { checksum: 'b'.repeat(64) })
  expect(() => compareSchema(files, [changed])).toThrow(/0001_a: checksum \w{12}, but bbbbbbbbbbbb/)
  expect(() => compareSchema(files, [row(2)])).toThrow('0001_a is not applied, but later ones are')
})
