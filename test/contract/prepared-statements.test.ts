import { expect, test } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
import { type Kysely, openRelational, prepared, sql } from '../../src/platform/relational/index.ts'
import { createLogger } from '../../src/platform/telemetry/index.ts'
import { runInProject } from '../../src/platform/tenancy/index.ts'
import { testPostgres } from '../support/postgres.ts'

/** Statements that a session keeps under their names. One connection, so that all runs share it. */
async function openStore() {
  const store = openRelational<unknown>({
    url: await testPostgres(),
    pool_max: 1,
    connect_timeout_ms: 10_000,
    statement_timeout_ms: 10_000,
    logger: createLogger({ role: 'test', level: 'silent' }),
  })
  return { ...store, [Symbol.asyncDispose]: () => store.close() }
}

const divide = async (db: Kysely<unknown>, by: number) => {
  const query = sql<{ result: number; project: string }>`
    select 12 / ${by}::int as result, current_setting('looptrace.project_id', true) as project`
  return (await query.execute(prepared(db, 'divide'))).rows
}

const countKept = async (db: Kysely<unknown>) => {
  const kept = sql<{ n: number }>`
    select count(*)::int as n from pg_prepared_statements where name = 'divide'`
  return (await kept.execute(db)).rows[0]?.n
}

test('a session keeps a statement, which has the values and the scope of each run', async () => {
  await using store = await openStore()
  for (const [by, result] of [
    [2, 6],
    [3, 4],
    [4, 3],
  ] as const) {
    const project = newId()
    const expected = [{ result, project }]
    await runInProject(project, async () => {
      expect(await divide(store.db, by)).toEqual(expected)
      const twice = store.db
        .transaction()
        .execute(async (trx) => [await divide(trx, by), await divide(trx, by)])
      expect(await twice).toEqual([expected, expected])
      expect(await countKept(store.db)).toBe(1)
    })
  }
})

test('a run that fails, alone or in a transaction, leaves the statement usable', async () => {
  await using store = await openStore()
  const project = newId()
  await runInProject(project, async () => {
    for (const run of [
      (by: number) => divide(store.db, by),
      (by: number) => store.db.transaction().execute((trx) => divide(trx, by)),
    ]) {
      await expect(run(0)).rejects.toMatchObject({ code: '22012' })
      await expect(run(0)).rejects.toMatchObject({ code: '22012' })
      expect(await run(2)).toEqual([{ result: 6, project }])
      await expect(run(0)).rejects.toMatchObject({ code: '22012' })
      expect(await run(3)).toEqual([{ result: 4, project }])
    }
    expect(await countKept(store.db)).toBe(1)
  })
})

test('a value that cannot be sent fails, and the next run works', async () => {
  await using store = await openStore()
  const project = newId()
  await runInProject(project, async () => {
    const circular: Record<string, unknown> = {}
    circular['self'] = circular
    const query = sql`select ${circular}::json`
    await expect(query.execute(prepared(store.db, 'divide'))).rejects.toThrow('circular')
    expect(await divide(store.db, 2)).toEqual([{ result: 6, project }])
  })
})

test('another text of the same name replaces the statement', async () => {
  await using store = await openStore()
  await runInProject(newId(), async () => {
    expect(await divide(store.db, 2)).toMatchObject([{ result: 6 }])
    const other = sql<{ result: number }>`select ${2}::int * 2 as result`
    expect((await other.execute(prepared(store.db, 'divide'))).rows).toEqual([{ result: 4 }])
    expect(await divide(store.db, 2)).toMatchObject([{ result: 6 }])
  })
})
