import { createQueryId, type RootOperationNode } from 'kysely'
import { beforeAll, describe, expect, test } from 'vitest'
import { tracesAlongLinks } from '../../src/capabilities/ingest/traces/recent-links.ts'
import {
  foreignRecords,
  linkedTraces,
} from '../../src/capabilities/ingest/traces/recent-responses.ts'
import { newId } from '../../src/kernel/ids.ts'
import {
  type Kysely,
  openRelational,
  type Relational,
  sql,
  type TaskTables,
} from '../../src/platform/relational/index.ts'
import { createLogger } from '../../src/platform/telemetry/index.ts'
import { runInProject } from '../../src/platform/tenancy/index.ts'
import { testPostgres } from '../support/postgres.ts'

/**
 * PostgreSQL does not know how many rows a batch has, and for a table without statistics not how many
 * rows a project has. It must not join such rows by the project alone.
 */
let store: Relational<TaskTables>
beforeAll(async () => {
  const limits = { pool_max: 1, connect_timeout_ms: 10_000, statement_timeout_ms: 10_000 }
  const logger = createLogger({ role: 'test', level: 'silent' })
  store = openRelational({ url: await testPostgres(), ...limits, logger })
  return () => store.close()
})

type Db = Kysely<TaskTables>
type Plan = { 'QUERY PLAN': string }

/** Returns the plan of the statement that the work runs, as the worst planner would make it. */
async function planOf(work: (db: Db) => Promise<unknown>): Promise<string[]> {
  return runInProject(newId(), () =>
    store.db.transaction().execute(async (trx) => {
      const sent: RootOperationNode[] = []
      const watched = trx.withPlugin({
        transformQuery: ({ node }) => {
          sent.push(node)
          return node
        },
        transformResult: async ({ result }) => result,
      })
      await work(watched)
      const [node] = sent
      if (node === undefined) throw new Error('no statement was sent')
      await sql`set local enable_nestloop = off`.execute(trx)
      await sql`set local enable_hashjoin = off`.execute(trx)
      const query = trx.getExecutor().compileQuery<Plan>(node, createQueryId())
      const { rows } = await trx.executeQuery<Plan>({ ...query, sql: `explain ${query.sql}` })
      return rows.map((row) => row['QUERY PLAN'])
    }),
  )
}

const traces = [{ project_id: newId(), trace_id: newId() }]

describe('calls of a batch are looked up', () => {
  test.each([
    ['linked traces', (db: Db) => linkedTraces(db, traces)],
    ['foreign records', (db: Db) => foreignRecords(db, traces)],
  ])('by their response, on the other side: %s', async (_, work) => {
    expect(await planOf(work)).toContainEqual(
      expect.stringMatching(
        /Cond: .*project_id = .*response_id = own.response_id.*is_record = \(NOT own.is_record\)/,
      ),
    )
  })

  test('by the names of their links', async () => {
    expect(await planOf((db) => tracesAlongLinks(db, traces))).toContainEqual(
      expect.stringMatching(/Cond: .*project_id = .*name = own.name/),
    )
  })
})
