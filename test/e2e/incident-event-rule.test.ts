import { expect, test } from 'vitest'
import type { DetectionTables } from '../../src/platform/relational/index.ts'
import { openRelational } from '../../src/platform/relational/index.ts'
import { allTenants } from '../support/all-tenants.ts'
import { apiByToken } from '../support/clients/api-reader.ts'
import { readEvents } from '../support/event-reader.ts'
import { eventually } from '../support/eventually.ts'
import { quietLogger as logger } from '../support/incident-bench.ts'
import { loopScript, runLoop } from '../support/looping-agent.ts'
import { startReceiver } from '../support/receiver.ts'
import { startSingleMachine } from '../support/single-machine.ts'
import { budget } from '../support/suite/budget.ts'

const tasks = budget({ test: 6, soak: 12 })
/** From the stored finding to the request at the receiver. */
const latency_ms_max = 2_000

test('an event rule of role all: from the finding to the receiver within two seconds', async () => {
  const receiver = await startReceiver()
  await using machine = await startSingleMachine({
    env: { LOOPTRACE_OUTBOUND_ALLOWED: `127.0.0.0/8:${receiver.port}` },
    script: loopScript,
  })
  const arrived = new Map<string, number>()
  receiver.answer = (response, { body }) => {
    const task_name = /"task_name":"(task-\d+)"/.exec(body)?.[1] ?? ''
    arrived.set(task_name, arrived.get(task_name) ?? Date.now())
    response.end('ok')
  }
  const { service, login } = machine
  const api = await apiByToken({ api_url: service.base_url, login })
  const path = `/api/v2/observability/incidents`
  const of = `?project_id=${login.project_id}`
  const channel = { name: 'on-call', webhook: { url: `${receiver.url}/hook` } }
  expect(await api.post(`${path}/channels${of}`, channel)).toMatchObject({ status: 201 })
  const rule = {
    ...{ name: 'loops', severity: 'high', notify: ['on-call'], group_by: ['task_name'] },
    event: { match: { source: 'finding', kinds: ['loop'] } },
    grouping: { wait: '0s', interval: '0s' },
  }
  expect(await api.post(`${path}/rules${of}`, rule)).toMatchObject({ status: 201 })
  const key = { 'x-api-key': login.project_key }
  const events = await readEvents(service.base_url, { topics: 'incidents' }, key)
  await events.nextOf('ready')
  const url = `${service.base_url}/v1/chat/completions`
  for (let i = 0; i < tasks; i += 1) {
    const headers = { ...key, authorization: 'Bearer provider-key' }
    const named = { 'x-task-id': `task-${i}`, 'x-task-name': `task-${i}` }
    await runLoop(url, { ...headers, ...named })
  }
  await eventually('every incident was received', () => arrived.size === tasks, {
    timeout_ms: 30_000,
  })
  expect((await events.nextOf('change')).data).toMatchObject({ kind: 'incident' })
  events.close()
  const relational = openRelational<DetectionTables>({
    scope: allTenants,
    ...{ url: await machine.postgresUrl(), logger, pool_max: 1 },
    ...{ connect_timeout_ms: 5_000, statement_timeout_ms: 5_000 },
  })
  const found = await relational.db
    .selectFrom('findings')
    .select(['task_id', 'first_detected_at'])
    .where('kind', '=', 'loop')
    .execute()
  await relational.close()
  await receiver.close()
  const latencies = found
    .map(({ task_id, first_detected_at }) => {
      return (arrived.get(task_id) ?? Number.NaN) - Date.parse(first_detected_at)
    })
    .toSorted((one, other) => one - other)
  process.stdout.write(`event rule, finding to receiver in ms: ${latencies.join(' ')}\n`)
  expect(latencies).toHaveLength(tasks)
  expect(latencies[Math.ceil(0.95 * tasks) - 1]).toBeLessThan(latency_ms_max)
})
