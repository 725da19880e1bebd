import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openAuditTrail } from '../../src/capabilities/audit/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import { AuditedCall, runInCall } from '../../src/platform/audit/index.ts'
import {
  type AccessTables,
  type AuditTables,
  openRelational,
  type Relational,
  sql,
} from '../../src/platform/relational/index.ts'
import { createLogger } from '../../src/platform/telemetry/index.ts'
import { runAsOwner } from '../../src/platform/tenancy/index.ts'
import { allTenants } from '../support/all-tenants.ts'
import { testPostgres } from '../support/postgres.ts'

let relational: Relational<AccessTables & AuditTables>
beforeAll(async () => {
  relational = openRelational({
    scope: allTenants,
    ...{ url: await testPostgres(), pool_max: 3, connect_timeout_ms: 2_000 },
    ...{ statement_timeout_ms: 5_000, logger: createLogger({ role: 'test', level: 'silent' }) },
  })
})
afterAll(() => relational.close())
beforeEach(async () => {
  await runAsOwner('a test', () =>
    sql`truncate audit_records, audit_chains, organizations cascade`.execute(relational.db),
  )
})

const db = () => relational.db
const insert = (name: string) =>
  db().insertInto('organizations').values({ id: newId(), name }).execute()
const names = async () =>
  (await db().selectFrom('organizations').select('name').orderBy('name').execute()).map(
    (row) => row.name,
  )
const outcomes = async () =>
  (await db().selectFrom('audit_records').select('outcome').orderBy('seq').execute()).map(
    (row) => row.outcome,
  )

/** Runs the change of a call as a server does, up to the reply. */
async function call(
  change: () => Promise<unknown>,
  organization_id?: string,
): Promise<AuditedCall> {
  const audited = new AuditedCall(openAuditTrail(db()), {
    ...{ recorded_at: new Date().toISOString(), action: 'test', request_id: newId() },
    ...{ resource_type: 'organizations', resource_id: null, origin: null, user_agent: null },
    is_collection: true,
  })
  if (organization_id !== undefined) audited.noteOrganization(organization_id)
  await runInCall(audited, () => audited.change(change))
  return audited
}

describe('the record of a call', () => {
  test('is committed with a single statement, and has the id of the new row', async () => {
    const { isRecorded } = await call(() => insert('a'))
    expect(isRecorded).toBe(true)
    const [row] = await db().selectFrom('organizations').select('id').execute()
    const [record] = await db().selectFrom('audit_records').selectAll().execute()
    expect(record).toMatchObject({ outcome: 'succeeded', resource_id: row?.id })
  })

  test('is not written by a statement that changes no row, a lock, or bookkeeping', async () => {
    const { isRecorded } = await call(async () => {
      await db().updateTable('organizations').set({ name: 'x' }).where('id', '=', newId()).execute()
      await sql`select 1 from organizations for update`.execute(db())
      await db()
        .transaction()
        .execute((trx) =>
          sql`insert into sign_in_networks select * from sign_in_networks`.execute(trx),
        )
    })
    expect(isRecorded).toBe(false)
    expect(await outcomes()).toEqual([])
  })

  test('is rolled back with its transaction, and written by the next one', async () => {
    await call(async () => {
      const rolledBack = db()
        .transaction()
        .execute(async (trx) => {
          await trx.insertInto('organizations').values({ id: newId(), name: 'lost' }).execute()
          throw new Error('no')
        })
      await expect(rolledBack).rejects.toThrow('no')
      expect(await outcomes()).toEqual([])
      await insert('kept')
    })
    expect(await outcomes()).toEqual(['succeeded'])
    expect(await names()).toEqual(['kept'])
  })

  test('that cannot be written rolls the change back, and leaves a usable connection', async () => {
    await runAsOwner('a test', () =>
      sql`alter table audit_records add constraint none check (action <> 'test')`.execute(db()),
    )
    const changes = [
      () => insert('a'),
      () =>
        db()
          .transaction()
          .execute((trx) =>
            trx.insertInto('organizations').values({ id: newId(), name: 'b' }).execute(),
          ),
    ]
    for (const change of changes) await expect(call(change)).rejects.toThrow('none')
    await runAsOwner('a test', () =>
      sql`alter table audit_records drop constraint none`.execute(db()),
    )
    expect(await names()).toEqual([])
    await call(() => insert('c'))
    expect(await names()).toEqual(['c'])
    expect(await outcomes()).toEqual(['succeeded'])
  })

  test('is not written if a value of the change cannot be sent', async () => {
    const name = {
      toPostgres: () => {
        throw new TypeError('not a name')
      },
    }
    const change = () => sql`insert into organizations values (${newId()}, ${name})`.execute(db())
    await expect(call(change)).rejects.toThrow('not a name')
    expect([await names(), await outcomes()]).toEqual([[], []])
    await call(() => insert('next'))
    expect([await names(), await outcomes()]).toEqual([['next'], ['succeeded']])
  })

  test('is written once for several transactions, also side by side', async () => {
    await call(() => Promise.all(['a', 'b', 'c'].map(insert)))
    expect(await names()).toEqual(['a', 'b', 'c'])
    expect(await outcomes()).toEqual(['succeeded'])
  })

  test('waits for its own chain only', async () => {
    const [busy, free] = [newId(), newId()]
    await call(() => insert('first'), busy)
    let waiting: Promise<AuditedCall> | undefined
    await db()
      .transaction()
      .execute(async (trx) => {
        await sql`select 1 from audit_chains where chain_id = ${busy}::uuid for update`.execute(trx)
        waiting = call(() => insert('busy'), busy)
        await call(() => insert('free'), free)
        expect(await names()).toEqual(['first', 'free'])
      })
    await waiting
    expect(await names()).toEqual(['busy', 'first', 'free'])
  })

  test('is not written by work that continues after the call', async () => {
    let later: Promise<unknown> = Promise.resolve()
    const audited = await call(async () => {
      later = new Promise((resolve) => setTimeout(resolve, 50)).then(() => insert('later'))
    })
    await later
    expect(audited.isRecorded).toBe(false)
    expect(await outcomes()).toEqual([])
  })

  test('passes the error of a statement through', async () => {
    await insert('taken')
    await expect(call(() => insert('taken'))).rejects.toMatchObject({ code: '23505' })
    expect(await outcomes()).toEqual([])
  })
})
