import { randomUUID } from 'node:crypto'
import { beforeAll, expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { type SharedMachine, sharedMachine } from '../support/shared-machine.ts'

const v2 = '/api/v2/observability'
let machine: SharedMachine
let token = ''

beforeAll(async () => {
  machine = await sharedMachine()
  const { admin_email: username, admin_password: password } = machine.login
  const signed = await call('POST', '/api/v1/auth/token', {
    grant_type: 'password',
    username,
    password,
  })
  token = signed.access_token
})

async function call(method: string, path: string, body?: unknown) {
  const reply = await fetch(`${machine.service.base_url}${path}`, {
    method,
    headers: {
      'content-type': 'application/json',
      ...(token !== '' && { authorization: `Bearer ${token}` }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await reply.text()
  if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${text}`)
  return text === '' ? null : JSON.parse(text)
}

async function send(names: readonly string[]): Promise<void> {
  const observations = names.map((name, at) => ({
    trace_id: randomUUID(),
    observation_id: `o-${at}`,
    start_time: new Date(Date.now() - at * 60_000).toISOString(),
    end_time: new Date().toISOString(),
    name,
  }))
  const idempotency_key = randomUUID()
  const batch = { idempotency_key, schema_version: '2026-02-23', observations }
  await call('POST', `${v2}/ingest?wait=true`, batch)
}

function ask() {
  const [from, to] = [Date.now() - 3_600_000, Date.now() + 60_000]
  const window = { from: new Date(from).toISOString(), to: new Date(to).toISOString() }
  return call('POST', `${v2}/query`, { entity: 'observations', window, select: ['name'] })
}

const namesOf = ({ rows }: { rows: { name: string }[] }) => rows.map(({ name }) => name).sort()

test('a project enables PostgreSQL: old rows are copied, new ones are written to both', async () => {
  await send(['before 1', 'before 2'])
  await eventually('rows', async () => (await ask()).rows.length === 2)
  expect((await ask()).served_by).toBe('clickhouse')
  await call('PUT', `${v2}/store-routing`, {
    write_stores: ['clickhouse', 'postgres'],
    hot_window_hours: 2,
  })
  await send(['while'])
  expect((await ask()).served_by).toBe('clickhouse')
  const backfill = async () => (await call('GET', `${v2}/store-routing`)).hot_window.backfill
  await eventually('a filled window', async () => (await backfill()).state === 'succeeded', {
    timeout_ms: 60_000,
  })
  await send(['after'])
  await eventually('four rows', async () => (await ask()).rows.length === 4)
  const answer = await ask()
  expect(answer).toMatchObject({ served_by: 'postgres', fallback_reason: null })
  expect(namesOf(answer)).toEqual(['after', 'before 1', 'before 2', 'while'])
  const { job_id } = await call('POST', `${v2}/store-benchmark/run`, { runs: 2, queries_max: 4 })
  const run = () => call('GET', `${v2}/store-benchmark/runs/${job_id}`)
  await eventually('a benchmark', async () => (await run()).state === 'succeeded', {
    timeout_ms: 60_000,
  })
  const { cases } = await run()
  const origins = cases.map(({ origin }: { origin: string }) => origin)
  expect(origins).toEqual(expect.arrayContaining(['suite', 'recorded']))
  for (const { name, equal } of cases) expect([name, equal]).not.toEqual([name, false])
  const { routes } = await call('GET', `${v2}/query/route-stats`)
  expect(routes.map(({ store }: { store: string }) => store)).toEqual(['clickhouse', 'postgres'])
  await call('PUT', `${v2}/store-routing`, {})
  await eventually('ClickHouse', async () => (await ask()).served_by === 'clickhouse')
  expect(namesOf(await ask())).toHaveLength(4)
}, 300_000)
