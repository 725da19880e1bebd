import { createHash, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { type SingleMachine, startSingleMachine } from '../support/single-machine.ts'
import { budget } from '../support/suite/budget.ts'

const v2 = '/api/v2/observability'
const day_ms = 86_400_000
const days = budget({ test: 2, soak: 4 })
const each = budget({ test: 25, soak: 75 })

let machine: SingleMachine
let token = ''

beforeAll(async () => {
  machine = await startSingleMachine({
    env: {
      LOOPTRACE_ARCHIVE_SETTLE_MS: '0',
      LOOPTRACE_JOB_POLL_MS: '50',
      LOOPTRACE_HTTP_RATE_PER_MINUTE_MAX: '0',
    },
  })
  const { admin_email: username, admin_password: password } = machine.login
  const signed = await call('POST', '/api/v1/auth/token', {
    grant_type: 'password',
    username,
    password,
  })
  token = signed.access_token
})
afterAll(() => machine[Symbol.asyncDispose]())

/** Start of the day forty days ago. */
const begin_ms = Math.floor(Date.now() / day_ms - 40) * day_ms
const window = {
  from: new Date(begin_ms).toISOString(),
  to: new Date(begin_ms + days * day_ms).toISOString(),
}

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

const ended = (path: string, job_id: string) =>
  eventually(
    `the end of ${path}`,
    async () => {
      const run = await call('GET', `${v2}${path}/${job_id}`)
      return ['succeeded', 'failed'].includes(run.state) && run
    },
    { timeout_ms: 60_000, interval_ms: 50 },
  )

/** Records of every kind, spread over the days. */
function batch() {
  const observations = Array.from({ length: days * each }, (_, at) => {
    const start_ms = begin_ms + (at % days) * day_ms + at * 1_009
    return {
      trace_id: randomUUID(),
      observation_id: `o-${at}`,
      start_time: new Date(start_ms).toISOString(),
      end_time: new Date(start_ms + at).toISOString(),
      name: `step ${at}`,
      user_id: `user-${at % 7}`,
      input: `what is ${at}? é🦊`,
      output: `'${at}'\n${'x'.repeat(at)}`,
      metadata: { at: String(at) },
    }
  })
  const of = ({ trace_id, observation_id, start_time: time }: (typeof observations)[number]) => ({
    trace_id,
    observation_id,
    time,
  })
  return {
    observations,
    traces: observations.map((each) => ({
      ...{ trace_id: each.trace_id, time: each.start_time, name: 'a trace', user_id: each.user_id },
    })),
    events: observations.map((each) => ({ ...of(each), name: 'said', body: 'hm' })),
    links: observations.map((each) => ({ ...of(each), linked_trace_id: randomUUID() })),
    correlations: observations.map((each, at) => ({
      ...of(each),
      correlation_type: 'order',
      correlation_value: `order-${at}`,
    })),
  }
}

const entities = ['observations', 'traces', 'events', 'links', 'correlations']
const content: Record<string, string[]> = {
  observations: ['input', 'output', 'metadata', 'attributes', 'tool_calls'],
  traces: ['metadata'],
  events: ['body', 'attributes'],
  links: ['attributes'],
  correlations: ['metadata'],
}

/** The number of records, and a checksum over all of their fields, including content. */
async function recordsOf(entity: string, include_restored: boolean) {
  const asked = { entity, window, include_restored, limit: 1_000 }
  const { columns } = await call('POST', `${v2}/query`, { ...asked, limit: 1 })
  const names = columns.map(({ name }: { name: string }) => name)
  const select = [...new Set([...names, ...(content[entity] ?? [])])]
  const { rows } = await call('POST', `${v2}/query`, { ...asked, select })
  const lines = rows.map((row: unknown) => JSON.stringify(row)).sort()
  return {
    rows: rows.length,
    checksum: createHash('sha256').update(lines.join('\n')).digest('hex'),
  }
}
const allRecords = async (include_restored = false) =>
  Object.fromEntries(
    await Promise.all(
      entities.map(async (entity) => [entity, await recordsOf(entity, include_restored)]),
    ),
  )

test('archived, deleted and restored records equal the original ones', async () => {
  const key = randomUUID()
  const sent = { idempotency_key: key, schema_version: '2026-02-23', ...batch() }
  await call('POST', `${v2}/ingest?wait=true`, sent)
  await eventually(
    'all is there',
    async () => (await recordsOf('observations', false)).rows === days * each,
    {
      timeout_ms: 30_000,
      interval_ms: 100,
    },
  )
  const before = await allRecords()
  for (const entity of entities) expect(before[entity].rows).toBe(days * each)

  const asked = await call('POST', `${v2}/archive/run`, { window })
  const archive = await ended('/archive/runs', asked.job_id)
  expect(archive).toMatchObject({
    state: 'succeeded',
    result: { verified: true, rows: 5 * days * each },
  })

  const policy = { days: { observations: 30, traces: 30, events: 30 } }
  await call('PUT', `${v2}/retention-policy`, policy)
  const retention = await call('POST', `${v2}/retention/run`)
  expect(await ended('/retention/runs', retention.job_id)).toMatchObject({ state: 'succeeded' })
  const nothing = { rows: 0 }
  const gone = await allRecords()
  for (const entity of entities) expect(gone[entity]).toMatchObject(nothing)

  const restore = await call('POST', `${v2}/restore`, {
    archive_run_id: archive.job_id,
    slice: 'audit',
    expires_in_days: 1,
  })
  expect(await ended('/restore/runs', restore.job_id)).toMatchObject({
    state: 'succeeded',
    result: { verified: true, rows: 5 * days * each, erased_rows: 0 },
  })
  expect(await allRecords(true)).toEqual(before)
  for (const entity of entities) expect((await allRecords())[entity]).toMatchObject(nothing)

  await machine.service.stop()
  await machine.service.start()
  expect(await allRecords(true)).toEqual(before)
  const { slices } = await call('GET', `${v2}/restore/slices`)
  await call('DELETE', `${v2}/restore/slices/${slices[0].slice_id}`)
  expect((await allRecords(true))['observations']).toMatchObject(nothing)
})
