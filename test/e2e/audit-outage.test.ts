import { afterAll, beforeAll, expect, test } from 'vitest'
import { adminCalls, withDatabase } from '../support/audit-shapes.ts'
import { type Cluster, startCluster } from '../support/cluster.ts'
import { eventually } from '../support/eventually.ts'
import { runRole } from '../support/service.ts'
import { inSoak } from '../support/suite/budget.ts'

/** Refused calls during an outage of PostgreSQL, and commands on the machine. */
let cluster: Cluster

beforeAll(async () => {
  cluster = await startCluster({ env: { LOOPTRACE_HTTP_RATE_PER_MINUTE_MAX: '0' } })
}, 240_000)
afterAll(() => cluster?.stop())

const query = async (text: string) =>
  (await withDatabase(cluster.postgres.server().url, (client) => client.query(text))).rows

test('migrate, repair and reset-password have records', async () => {
  const [migrated] = await query(`select * from audit_records where action = 'command.migrate'`)
  expect(migrated).toMatchObject({ actor_kind: 'command', actor_id: 'migrate', via: 'cli' })
  expect(JSON.parse(migrated?.['change_value']).after.migrations.postgres).toContain('0001_schema')
  await runRole('migrate', cluster.env)
  const again = await query(`select seq from audit_records where action = 'command.migrate'`)
  expect(again).toHaveLength(1)

  const repairs = () => query(`select outcome from audit_records where action = 'command.repair'`)
  const project = `--project ${cluster.login.project_id}`
  const counted = await runRole(`repair ${project}`, cluster.env)
  expect(counted).toMatchObject({ status: 0 })
  expect(JSON.parse(counted.output)).toMatchObject({ is_applied: false, observations: 0 })
  expect(await repairs()).toEqual([])
  expect(await runRole(`repair ${project} --apply`, cluster.env)).toMatchObject({ status: 0 })
  expect(await repairs()).toEqual([{ outcome: 'succeeded' }])

  const { admin_email } = cluster.login
  expect(await runRole(`reset-password ${admin_email}`, cluster.env)).toMatchObject({ status: 0 })
  expect(await runRole('reset-password nobody@example.com', cluster.env)).toMatchObject({
    status: 1,
  })
  const resets = await query(`select outcome, code, resource_id, origin_value from audit_records
    where action = 'command.reset-password' order by seq`)
  const [user] = await query(`select id from users where email = '${admin_email}'`)
  expect(resets).toMatchObject([
    { outcome: 'succeeded', resource_id: user?.['id'] },
    { outcome: 'refused', code: 'user_not_found', resource_id: null },
  ])
  expect(resets[0]?.['origin_value']).toContain('looptrace reset-password (user ')
}, 120_000)

/** The access of a person is used for half a minute after PostgreSQL confirmed it last. */
const tooOldWait = { timeout_ms: 60_000, interval_ms: 1_000 }

test('a person reads content of ClickHouse during an outage, in a soak until the access is too old', async () => {
  const { api, login } = cluster
  const call = await adminCalls({ api, login })
  const trace = `/api/v2/observability/traces/${'a1'.repeat(16)}/events`
  const read = (path: string, id: string) => call('GET', path, undefined, id)
  const before = await read(trace, 'outage-read-before')
  await cluster.postgres.stop()
  const answered = ['outage-read-before']
  // A task is in PostgreSQL. The read is recorded, and says nothing about its success.
  const task = await read('/api/v1/tasks/task-of-postgres', 'outage-read-task')
  expect([task.status, task.json().code]).toEqual([503, 'store_unavailable'])
  const began_ms = Date.now()
  const again = async () => {
    const id = `outage-read-${answered.length}`
    const reply = await read(trace, id)
    if (reply.status === 503) return reply
    expect([reply.status, reply.text]).toEqual([before.status, before.text])
    answered.push(id)
    return undefined
  }
  const untilTooOld = inSoak('It takes half a minute; key-cache.test.ts shows it with a clock.')
  if (untilTooOld) {
    const refused = await eventually('the access is too old', again, tooOldWait)
    expect(refused.json()).toMatchObject({ code: 'store_unavailable' })
    expect(Date.now() - began_ms).toBeLessThan(35_000)
  } else for (let read = 0; read < 4; read += 1) expect(await again()).toBeUndefined()
  expect(answered.length).toBeGreaterThan(3)

  await cluster.postgres.start()
  const listed = async () => {
    const rows = await query(`select request_id from audit_reads
      where request_id like 'outage-read-%' and request_id <> 'outage-read-task'`)
    return rows.map(({ request_id }) => request_id)
  }
  await eventually('the reads are sealed', async () => (await listed()).length >= answered.length, {
    timeout_ms: 30_000,
  })
  expect((await listed()).toSorted()).toEqual(answered.toSorted())
  const late = await query(`select 1 from audit_records where action = 'sealReadsLate'`)
  if (untilTooOld) expect(late.length).toBeGreaterThan(0)
}, 180_000)

test('calls that were refused during an outage have records after it, also after a kill', async () => {
  const { api, login } = cluster
  const call = await adminCalls({ api, login })
  const keys = `/api/v2/access/projects/${login.project_id}/api-keys`
  await cluster.postgres.stop()
  const began_ms = Date.now()
  const ids = Array.from({ length: 5 }, (_, at) => `during-outage-${at}`)
  for (const id of ids) {
    const { status } = await call('POST', keys, { name: id }, id)
    expect(status).toBe(503)
  }
  const ended_ms = Date.now()
  await api.kill()
  await cluster.postgres.start()
  await api.start()
  const recorded = () =>
    query(`select request_id, recorded_at, outcome, code, action from audit_records
      where request_id like 'during-outage-%' order by request_id`)
  await eventually('the records are written', async () => (await recorded()).length >= ids.length, {
    timeout_ms: 30_000,
  })
  const records = await recorded()
  expect(records.map(({ request_id }) => request_id)).toEqual(ids)
  for (const { recorded_at, outcome, code, action } of records) {
    expect([outcome, code, action]).toEqual(['failed', 'store_unavailable', 'createApiKey'])
    expect(recorded_at.getTime()).toBeGreaterThanOrEqual(began_ms)
    expect(recorded_at.getTime()).toBeLessThanOrEqual(ended_ms)
  }
  expect(await query(`select 1 from api_keys where name like 'during-outage-%'`)).toEqual([])
  const again = await adminCalls({ api, login })
  const { json } = await again('GET', '/api/v2/audit/verify?after=0&chain=installation')
  expect(json()).toMatchObject({ valid: true })
}, 180_000)
