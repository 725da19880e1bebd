import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checkIds } from '../../src/capabilities/onboarding/report/check-ids.ts'
import { summarize, toChecks } from '../../src/capabilities/onboarding/report/checks.ts'
import { newId } from '../../src/kernel/ids.ts'
import { scenarioEnvironment } from '../../src/model/reserved-environment.ts'
import { ColumnarUnavailable } from '../../src/platform/columnar/index.ts'
import { agentRun } from '../corpus/agent-run.ts'
import { type OnboardingApi, openOnboardingApi } from '../support/onboarding-api.ts'
import { keyOf, tokenOf } from '../support/task-api.ts'
import type { Json } from '../support/verification-api.ts'

let api: OnboardingApi
beforeAll(async () => {
  api = await openOnboardingApi()
  api.bench.startWorker()
})
afterAll(() => api?.[Symbol.asyncDispose]())

async function report(project_id: string): Promise<Json> {
  const { status, body } = await api.call('GET', '/report', { project_id })
  expect(status).toBe(200)
  return body
}

const stateOf = (body: Json, id: string) => body.checks.find((one: Json) => one.id === id).state

async function funnel(project_id: string, query = ''): Promise<Json> {
  const { status, body } = await api.call('GET', `/funnel${query}`, { project_id })
  expect(status).toBe(200)
  return body
}

/** Stores an agent's run, as a batch of the queue brings it. */
function bring(project_id: string, task_id: string, environment = ''): Promise<void> {
  const rows = agentRun(`${project_id} ${task_id}`, { project_id, task_id, tools: ['look'] })
    .user('What does it say?')
    .tool({ name: 'look', args: { id: 7 } }, 'It says 7.')
    .assistant('It says 7.')
    .observations()
  return api.bench.bring(rows.map((row) => ({ ...row, environment })))
}

async function addKey(project_id: string, scopes: string[], more: object = {}): Promise<string> {
  const id = newId()
  const secret_hash = Buffer.alloc(32)
  const prefix = id.slice(-8)
  await api.db
    .insertInto('api_keys')
    .values({ ...{ id, project_id, name: 'k', prefix, secret_hash, scopes }, ...more })
    .execute()
  return id
}

describe('the report', () => {
  test('of an empty project lists all checks but the ledger as missing, in order', async () => {
    const project_id = await api.bench.newProject()
    const body = await report(project_id)
    expect(body.checks.map(({ id }: Json) => id)).toEqual(checkIds)
    expect(body.scenario_id).toBeNull()
    expect(body).toMatchObject({ ready: false, done: 1, missing: checkIds.length - 1, unknown: 0 })
    expect(stateOf(body, 'ledger_complete')).toBe('done')
    for (const { state, commands, since } of body.checks) {
      if (state === 'done') continue
      expect(commands.length).toBeGreaterThan(0)
      expect(since).toBeNull()
    }
    const variables = body.variables.map(({ name }: Json) => name)
    const texts = body.checks.flatMap(({ commands }: Json) => commands.map((one: Json) => one.text))
    for (const [, name] of texts.join('\n').matchAll(/\$\{?([A-Z][A-Z_]+)/g)) {
      expect(variables).toContain(name)
    }
  })

  test('a stored run is a call, a task and a verdict; a second read keeps their times', async () => {
    const project_id = await api.bench.newProject()
    await bring(project_id, "it's a task/1")
    await api.bench.untilDetected()
    const body = await report(project_id)
    for (const id of ['first_call', 'first_task', 'first_verdict']) {
      expect(stateOf(body, id), id).toBe('done')
    }
    expect(stateOf(body, 'first_span')).toBe('missing')
    // A command names the newest task, whatever its id is.
    const { commands } = body.checks.find(({ id }: Json) => id === 'verification')
    expect(commands[0].text).toContain('/tasks/it%27s%20a%20task%2F1/verify')
    await api.db.deleteFrom('tasks').where('project_id', '=', project_id).execute()
    const again = await report(project_id)
    const since = (of: Json, id: string) => of.checks.find((one: Json) => one.id === id).since
    expect(stateOf(again, 'first_task')).toBe('done')
    expect(since(again, 'first_task')).toBe(since(body, 'first_task'))
  })

  test('the scenario is no step of the project', async () => {
    const project_id = await api.bench.newProject()
    await bring(project_id, 'seeded', scenarioEnvironment)
    await api.bench.untilDetected()
    const body = await report(project_id)
    for (const id of ['first_call', 'first_task', 'first_verdict']) {
      expect(stateOf(body, id), id).toBe('missing')
    }
    expect((await funnel(project_id)).subjects).toBe(1)
  })

  test('says why keys, rules and archives do not count', async () => {
    const project_id = await api.bench.newProject()
    await addKey(project_id, ['proxy:write'], { revoked_at: new Date() })
    await addKey(project_id, ['proxy:write'], { expires_at: new Date(Date.now() - 1_000) })
    await addKey(project_id, ['tasks:read'])
    const detail = (body: Json, id: string) => body.checks.find((one: Json) => one.id === id).detail
    const body = await report(project_id)
    expect(detail(body, 'project_key')).toContain('revoked, expired or lack it')
    await addKey(project_id, ['proxy:write', 'tasks:read'])
    expect(stateOf(await report(project_id), 'project_key')).toBe('done')
  })

  test('another tenant’s data are not in it', async () => {
    const [mine, theirs] = [await api.bench.newProject(), await api.bench.newProject()]
    await bring(theirs, 'theirs')
    await addKey(theirs, ['proxy:write'])
    await api.bench.untilDetected()
    const body = await report(mine)
    expect(body.done).toBe(1)
    expect(JSON.stringify(body)).not.toContain(theirs)
  })

  test('describes the key that asks, and admits viewers and tasks:read', async () => {
    const project_id = await api.bench.newProject()
    const asked = async (headers: Record<string, string>) =>
      (await api.call('GET', '/report', { project_id, headers })).status
    expect(await asked(tokenOf('viewer', project_id))).toBe(200)
    expect(await asked(keyOf(project_id, 'tasks:read'))).toBe(200)
    expect(await asked(keyOf(project_id, 'proxy:write'))).toBe(403)
    expect(await asked({})).toBe(401)
  })

  test('a store that gives no answer leaves checks unknown, and the others are read', async () => {
    const read = async () => {
      throw new ColumnarUnavailable('no answer')
    }
    const sums = async () => {
      throw new ColumnarUnavailable('no answer')
    }
    await using lame = await openOnboardingApi({
      columnar: { ofProject: () => ({ read }) },
      ledger: { sums },
    })
    const project_id = await lame.bench.newProject()
    const { status, body } = await lame.call('GET', '/report', { project_id })
    expect(status).toBe(200)
    const unknown = body.checks.filter(({ state }: Json) => state === 'unknown')
    expect(unknown.map(({ id }: Json) => id)).toEqual([
      'first_call',
      'first_span',
      'ledger_complete',
    ])
    expect(body.ready).toBe(false)
    const shown = await lame.call('GET', '/funnel', { project_id })
    expect(shown.body.unknown_steps).toEqual(['first_call', 'first_span'])
  })

  test('is ready with the required checks alone', () => {
    const about = { project_id: newId(), task_id: 't', today: '2026-02-23' }
    const required = new Set<string>(
      toChecks(
        factsWith(() => true),
        about,
      ).flatMap((one) => (one.required ? one.id : [])),
    )
    expect(
      summarize(
        toChecks(
          factsWith((id) => required.has(id)),
          about,
        ),
      ).ready,
    ).toBe(true)
    for (const left of required) {
      const checks = toChecks(
        factsWith((id) => id !== left),
        about,
      )
      expect(summarize(checks)).toMatchObject({ ready: false, missing: 1 })
      expect(checks.find(({ id }) => id === left)?.commands).not.toEqual([])
    }
  })
})

function factsWith(isDone: (id: string) => boolean) {
  const facts = checkIds.map((id) => [id, { done: isDone(id) }])
  return Object.fromEntries(facts) as Parameters<typeof toChecks>[0]
}

describe('the funnel', () => {
  const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString()

  test('has installations and people by posted events, and the project by its data', async () => {
    const project_id = await api.bench.newProject()
    const post = (event_id: string, name: string, minutes: number, installation_id?: string) => ({
      ...{ event_id, name, occurred_at: minutesAgo(minutes) },
      ...(installation_id && { installation_id }),
    })
    const events = [
      post('1', 'installed', 60, 'a'),
      post('2', 'first_call', 50, 'a'),
      post('3', 'first_call', 40, 'a'),
      post('4', 'first_verdict', 30, 'a'),
      post('5', 'installed', 60, 'b'),
      post('6', 'docs_opened', 10, 'b'),
      post('7', 'key_created', 5),
    ]
    const body = { events }
    expect((await api.call('POST', '/events', { project_id, body })).status).toBe(201)
    const installations = await funnel(project_id, '?subjects=installation')
    expect(installations).toMatchObject({ subjects: 2, subject_kinds: ['installation'] })
    const steps = Object.fromEntries(installations.steps.map((one: Json) => [one.step, one]))
    expect(steps['installed']).toMatchObject({ done: 2, reached: 2, of_all: 1 })
    expect(steps['first_call']).toMatchObject({ done: 1, reached: 1, of_previous: 1, timed: 1 })
    expect(steps['first_call'].median_s).toBeCloseTo(600, 0)
    expect(steps['first_span']).toMatchObject({ done: 0, reached: 1 })
    expect(steps['first_verdict'].median_s).toBeCloseTo(1_200, 0)
    expect(installations.cohorts).toHaveLength(1)
    const all = await funnel(project_id)
    expect(all.subjects).toBe(4)
    expect((await funnel(project_id, '?subjects=user,project')).subjects).toBe(2)
    expect((await funnel(await api.bench.newProject())).subjects).toBe(1)
  })

  test('leaves out subjects whose first step is older than its weeks', async () => {
    const project_id = await api.bench.newProject()
    const occurred_at = minutesAgo(10 * 24 * 60)
    const body = {
      events: [
        { event_id: '1', name: 'installed', installation_id: 'old', occurred_at },
        { event_id: '2', name: 'first_call', installation_id: 'old' },
        { event_id: '3', name: 'first_call', installation_id: 'new' },
      ],
    }
    await api.call('POST', '/events', { project_id, body })
    expect((await funnel(project_id, '?subjects=installation&weeks=1')).subjects).toBe(1)
    expect((await funnel(project_id, '?subjects=installation&weeks=2')).subjects).toBe(2)
  })

  test.each(['?subjects=cats', '?weeks=0', '?weeks=54', '?days=3'])('refuses %s', async (query) => {
    const project_id = await api.bench.newProject()
    expect((await api.call('GET', `/funnel${query}`, { project_id })).status).toBe(400)
  })
})
