import { afterAll, beforeAll, expect, test } from 'vitest'
import { apiByToken } from '../support/clients/api-reader.ts'
import { type Cluster, startCluster } from '../support/cluster.ts'
import { type EventReader, readEvents } from '../support/event-reader.ts'
import { loopScript, runLoop } from '../support/looping-agent.ts'
import { type Service, startService } from '../support/service.ts'

let cluster: Cluster
let second: Service

beforeAll(async () => {
  cluster = await startCluster({ script: loopScript })
  second = await startService('api', {
    ...cluster.env,
    LOOPTRACE_DATA_DIRECTORY: `${cluster.directory}/second-api`,
  })
})

afterAll(async () => {
  await second?.stop()
  await cluster?.stop()
})

type Changed = { id: string; version?: number; task_id?: string }

/** Resolves with the changed objects of the next event of a kind that concerns a topic. */
async function changesOf(reader: EventReader, kind: string, topic: string): Promise<Changed[]> {
  for (;;) {
    const { data } = await reader.nextOf('change')
    const topics = data['topics'] as string[]
    if (data['kind'] === kind && topics.includes(topic)) return data['changed'] as Changed[]
  }
}

test('changes in a worker and in an api process reach the streams of every api process', async () => {
  const { login, proxy, api } = cluster
  const person = await apiByToken({ api_url: api.base_url, login })
  const path = '/api/v2/observability/incidents'
  const of = `?project_id=${login.project_id}`
  const rule = {
    ...{ name: 'loops', severity: 'high', group_by: ['task_name'] },
    event: { match: { source: 'finding', kinds: ['loop'] } },
  }
  expect(await person.post(`${path}/rules${of}`, rule)).toMatchObject({ status: 201 })
  const key = { 'x-api-key': login.project_key }
  const topics = 'tasks,findings,incidents,task:order-7'
  const readers = await Promise.all(
    [api.base_url, second.base_url].map((url) => readEvents(url, { topics }, key)),
  )
  for (const reader of readers) await reader.nextOf('ready')

  const named = { 'x-task-id': 'order-7', 'x-task-name': 'order' }
  const headers = { ...key, ...named, authorization: 'Bearer provider-key' }
  const ran = runLoop(`${proxy.base_url}/v1/chat/completions`, headers)
  const incidents: string[] = []
  for (const reader of readers) {
    expect(await changesOf(reader, 'task', 'task:order-7')).toEqual([{ id: 'order-7' }])
    const [finding] = await changesOf(reader, 'finding', 'task:order-7')
    expect(finding).toMatchObject({ task_id: 'order-7' })
    const [incident] = await changesOf(reader, 'incident', 'incidents')
    expect(incident?.version).toBeGreaterThan(0)
    incidents.push(incident?.id ?? '')
  }
  await ran
  const [id = '', other] = incidents
  expect(other).toBe(id)

  const { body } = await person.get(`${path}/${id}${of}`)
  expect(await person.post(`${path}/${id}/ack${of}`, {})).toMatchObject({ status: 200 })
  for (const reader of readers) {
    for (let seen = 0; seen <= Number(body['version']); ) {
      const [incident] = await changesOf(reader, 'incident', 'incidents')
      expect(incident?.id).toBe(id)
      seen = incident?.version ?? 0
    }
  }

  const [first, ended] = readers
  const status = second.stop()
  expect((await ended?.nextOf('bye'))?.data).toEqual({ reason: 'shutdown', reconnect: true })
  expect(await ended?.next()).toBeUndefined()
  expect(await status).toBe(0)
  first?.close()
})
