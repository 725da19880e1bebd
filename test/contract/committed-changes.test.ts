import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { ChangeHint } from '../../src/model/change-hint.ts'
import {
  noteChanges,
  openRelational,
  type Relational,
} from '../../src/platform/relational/index.ts'
import { createLogger } from '../../src/platform/telemetry/index.ts'
import { allTenants } from '../support/all-tenants.ts'
import { testPostgres } from '../support/postgres.ts'

type Tables = { tasks: { project_id: string } }
let relational: Relational<Tables>
let announced: string[]

beforeAll(async () => {
  relational = openRelational<Tables>({
    ...{ scope: allTenants, url: await testPostgres(), pool_max: 2 },
    ...{ connect_timeout_ms: 5_000, statement_timeout_ms: 10_000 },
    logger: createLogger({ role: 'test', level: 'silent' }),
  })
})
beforeEach(() => {
  announced = []
  relational.onCommitted((changes) => {
    for (const { id } of changes) announced.push(id)
  })
})
afterAll(() => relational.close())

const project_id = randomUUID()
const task = (id: string): ChangeHint => ({ project_id, kind: 'task', id })

test('changes of a transaction are announced after its commit, in order', async () => {
  await relational.db.transaction().execute(async (trx) => {
    await noteChanges(trx, [task('1')])
    await trx.selectFrom('tasks').select('project_id').limit(1).execute()
    await noteChanges(trx.withTables<Tables>(), [task('2'), task('3')])
    expect(announced).toEqual([])
  })
  expect(announced).toEqual(['1', '2', '3'])
})

test('changes that were rolled back are not announced, nor with a later transaction', async () => {
  const failed = relational.db.transaction().execute(async (trx) => {
    await noteChanges(trx, [task('1')])
    throw new Error('no')
  })
  await expect(failed).rejects.toThrow('no')
  await relational.db.transaction().execute((trx) => noteChanges(trx, [task('2')]))
  expect(announced).toEqual(['2'])
})

test('a commit that fails announces nothing', async () => {
  const failed = relational.db.transaction().execute(async (trx) => {
    await noteChanges(trx, [task('1')])
    await trx
      .selectFrom('missing' as 'tasks')
      .selectAll()
      .execute()
      .catch(() => undefined)
  })
  await expect(failed).rejects.toThrow()
  expect(announced).toEqual([])
})

test('outside of a transaction, changes are announced at once', async () => {
  await noteChanges(relational.db, [task('1')])
  expect(announced).toEqual(['1'])
})

test('transactions side by side do not mix', async () => {
  const work = (id: string, fails: boolean) =>
    relational.db.transaction().execute(async (trx) => {
      await noteChanges(trx, [task(id)])
      await trx.selectFrom('tasks').select('project_id').limit(1).execute()
      if (fails) throw new Error('no')
    })
  await Promise.allSettled([work('kept', false), work('lost', true)])
  expect(announced).toEqual(['kept'])
})
