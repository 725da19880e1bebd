import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runDetectors } from '../../src/capabilities/detection/analyse/run-detectors.ts'
import { detectors } from '../../src/capabilities/detection/index.ts'
import { reconstruct } from '../../src/capabilities/detection/reconstruction/index.ts'
import { groupsOfTask } from '../../src/capabilities/incidents/evaluation/event-match.ts'
import { ruleBody } from '../../src/capabilities/incidents/rules/rule-faults.ts'
import { deleteOldScenarios, ScenarioRuns } from '../../src/capabilities/onboarding/index.ts'
import {
  compareFindings,
  scenarioAgents,
} from '../../src/capabilities/onboarding/scenario/agents.ts'
import { buildScenarioRule } from '../../src/capabilities/onboarding/scenario/scenario-rule.ts'
import { heartbeat_ms_max } from '../../src/capabilities/onboarding/scenario/store.ts'
import { newId } from '../../src/kernel/ids.ts'
import { Semaphore } from '../../src/kernel/semaphore.ts'
import { scenarioEnvironment } from '../../src/model/reserved-environment.ts'
import { agentRun } from '../corpus/agent-run.ts'
import { eventually } from '../support/eventually.ts'
import { type OnboardingApi, openOnboardingApi } from '../support/onboarding-api.ts'
import { keyOf, tokenOf } from '../support/task-api.ts'

let api: OnboardingApi
beforeAll(async () => {
  api = await openOnboardingApi()
})
afterAll(() => api?.[Symbol.asyncDispose]())

const path = '/seeded-reliability-scenario'

const start = (project_id: string, body?: object, headers?: Record<string, string>) =>
  api.call('POST', path, { project_id, body, ...(headers && { headers }) })

/** Ends the run of a project as its process would. */
async function end(project_id: string, outcome: 'as_expected' | 'failed' = 'as_expected') {
  await api.db
    .updateTable('onboarding_scenarios')
    .set({ state: 'ended', outcome, ended_at: new Date() })
    .where('project_id', '=', project_id)
    .where('state', '=', 'running')
    .execute()
}

const free = { play: async () => [] }

describe('one at a time', () => {
  test('starts side by side are one run', async () => {
    const project_id = await api.bench.newProject()
    const replies = await Promise.all(Array.from({ length: 6 }, () => start(project_id)))
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([202]))
    expect(new Set(replies.map(({ body }) => body.scenario_id)).size).toBe(1)
    const [first] = replies
    expect(first?.body).toMatchObject({
      ...{ state: 'running', outcome: null, environment: scenarioEnvironment, steps_total: 7 },
    })
    expect(first?.body.agents).toHaveLength(5)
  })

  test('a process plays two; a third project has to wait, and its run is not stored', async () => {
    await using small = await openOnboardingApi({ slots: new Semaphore({ permits_max: 2 }) })
    const projects = [1, 2, 3].map(() => small.bench.newProject())
    const statuses: number[] = []
    for (const project_id of await Promise.all(projects)) {
      statuses.push((await small.call('POST', path, { project_id })).status)
    }
    expect(statuses).toEqual([202, 202, 503])
    const [, , third] = await Promise.all(projects)
    const asked = await small.call('GET', path, { project_id: third ?? '' })
    expect(asked).toMatchObject({ status: 404, body: { code: 'scenario_not_found' } })
  })

  test('a project starts ten an hour', async () => {
    await using quick = await openOnboardingApi(free)
    const project_id = await quick.bench.newProject()
    const statuses: number[] = []
    for (let at = 0; at < 11; at += 1) {
      const { status } = await quick.call('POST', `${path}?wait=true`, { project_id })
      statuses.push(status)
    }
    expect(statuses).toEqual([...Array(10).fill(200), 429])
  })
})

describe('the end of a run', () => {
  test('a run that fails says at which step, and a new one can start', async () => {
    const play = () => Promise.reject(new Error('secret-of-the-inside'))
    await using broken = await openOnboardingApi({ play })
    const project_id = await broken.bench.newProject()
    const { status, body } = await broken.call('POST', `${path}?wait=true`, { project_id })
    expect(status).toBe(200)
    expect(body).toMatchObject({
      ...{ state: 'ended', outcome: 'failed', step: 'playing', steps_done: 1 },
      error: 'playing: The run failed. See the log of the API for the reason.',
    })
    const again = await broken.call('POST', `${path}?wait=true`, { project_id })
    expect(again.body.scenario_id).not.toBe(body.scenario_id)
  })

  test('a process that stops ends its runs as interrupted', async () => {
    const runs = new ScenarioRuns()
    await using stopping = await openOnboardingApi({ runs })
    const project_id = await stopping.bench.newProject()
    await stopping.call('POST', path, { project_id })
    await runs.stop()
    const { body } = await stopping.call('GET', path, { project_id })
    expect(body).toMatchObject({ state: 'ended', outcome: 'interrupted' })
    const refused = await stopping.call('POST', path, { project_id })
    expect(refused).toMatchObject({ status: 503, body: { code: 'shutting_down' } })
  })

  test('a run whose process was killed is interrupted after a while', async () => {
    const project_id = await api.bench.newProject()
    const id = newId()
    const lost = new Date(Date.now() - heartbeat_ms_max - 1_000)
    await api.db
      .insertInto('onboarding_scenarios')
      .values({
        ...{ id, project_id, state: 'running', step: 'detecting', record: '{}' },
        ...{ requested_by: 'user:u', started_at: lost, heartbeat_at: lost },
      })
      .execute()
    const { body } = await api.call('GET', `${path}/${id}`, { project_id })
    expect(body).toMatchObject({ state: 'ended', outcome: 'interrupted', step: 'detecting' })
  })

  test('a good run is returned again; with force_rerun a new one starts', async () => {
    const project_id = await api.bench.newProject()
    const { body } = await start(project_id)
    await end(project_id)
    const kept = await start(project_id)
    expect(kept).toMatchObject({ status: 200, body: { scenario_id: body.scenario_id } })
    const forced = await start(project_id, { force_rerun: true })
    expect(forced.status).toBe(202)
    expect(forced.body.scenario_id).not.toBe(body.scenario_id)
    await end(project_id)
  })
})

describe('attacks', () => {
  test('another tenant’s run is not found, by any route', async () => {
    const [mine, theirs] = [await api.bench.newProject(), await api.bench.newProject()]
    const { body } = await start(theirs)
    const asked = await api.call('GET', `${path}/${body.scenario_id}`, { project_id: mine })
    expect(asked).toMatchObject({ status: 404, body: { code: 'scenario_not_found' } })
    expect((await api.call('GET', path, { project_id: mine })).status).toBe(404)
    expect(await api.call('DELETE', path, { project_id: mine })).toMatchObject({
      ...{ status: 202, body: { scenario_ids: [], erasure_ids: [] } },
    })
    await end(theirs)
  })

  test.each(['no-uuid', '%00', 'x'.repeat(300)])('an id %s is not found', async (id) => {
    const project_id = await api.bench.newProject()
    expect((await api.call('GET', `${path}/${id}`, { project_id })).status).toBeGreaterThan(399)
  })

  test('starting and removing needs an editor or ingest:write', async () => {
    const project_id = await api.bench.newProject()
    const tried = async (method: 'POST' | 'DELETE', headers: Record<string, string>) =>
      (await api.call(method, path, { project_id, headers })).status
    for (const method of ['POST', 'DELETE'] as const) {
      expect(await tried(method, tokenOf('viewer', project_id))).toBe(403)
      expect(await tried(method, keyOf(project_id, 'tasks:read'))).toBe(403)
      expect(await tried(method, {})).toBe(401)
    }
    expect(await tried('DELETE', keyOf(project_id, 'ingest:write'))).toBe(202)
  })

  test('removal deletes the rule of the run and its user’s tasks, and nothing similar', async () => {
    const project_id = await api.bench.newProject()
    const { body } = await start(project_id)
    const { scenario_id } = body
    const running = await api.call('DELETE', path, { project_id })
    expect(running).toMatchObject({ status: 409, body: { code: 'job_running' } })
    const record = await eventually('the rule exists', async () => {
      const rule = await api.db
        .selectFrom('incident_rules')
        .select(['id', 'name'])
        .where('project_id', '=', project_id)
        .executeTakeFirst()
      return rule
    })
    expect(record.name).toBe(`looptrace-onboarding-${scenario_id}`)
    await end(project_id)
    // Rules of the project itself, one with a name like that of the scenario.
    const spec = { ...buildScenarioRule(newId()), mode: 'live' }
    const own = { ...spec, name: 'looptrace-onboarding-of-our-own' }
    await api.db
      .insertInto('incident_rules')
      .values({
        ...{ id: newId(), project_id, name: own.name, kind: 'event', spec: JSON.stringify(own) },
        ...{ suspended: false, version: 1, created_at: new Date(), updated_at: new Date() },
        updated_by: 'user:user-1',
      })
      .execute()
    const removal = await api.call('DELETE', path, { project_id })
    expect(removal).toMatchObject({ status: 202, body: { scenario_ids: [scenario_id] } })
    const left = await api.db
      .selectFrom('incident_rules')
      .select('name')
      .where('project_id', '=', project_id)
      .execute()
    expect(left).toEqual([{ name: own.name }])
    const [erasure] = await api.db
      .selectFrom('erasures')
      .selectAll()
      .where('project_id', '=', project_id)
      .execute()
    expect(erasure).toMatchObject({ user_id: `looptrace-onboarding-${scenario_id}`, purge: false })
    expect((await api.call('GET', path, { project_id })).body.removed_at).not.toBeNull()
    // The record of a removed run is deleted after a while.
    const day_ms = 86_400_000
    await deleteOldScenarios(api.db, Date.now() + 89 * day_ms)
    expect((await api.call('GET', path, { project_id })).status).toBe(200)
    await deleteOldScenarios(api.db, Date.now() + 91 * day_ms)
    expect((await api.call('GET', path, { project_id })).status).toBe(404)
  })
})

describe('the script', () => {
  test.each(scenarioAgents.map((agent) => [agent.name, agent] as const))(
    '%s: detection finds what is expected and nothing else',
    (name, agent) => {
      const tools = agent.turns.flatMap(({ steps = [] }) => steps.map(({ tool }) => tool))
      let run = agentRun(name, { tools: [...new Set(tools)] }).system(agent.system)
      for (const { user, steps = [], answer } of agent.turns) {
        run = run.user(user)
        for (const step of steps) {
          run = run.tool({ name: step.tool, args: step.arguments }, step.result)
        }
        run = run.assistant(answer)
      }
      const taskRun = { ...reconstruct(run.observations()), state: 'completed' as const }
      const { findings } = runDetectors(taskRun, {}, {})
      const found = findings.map(({ type, severity }) => ({ finding_id: '', type, severity }))
      const result = compareFindings({ [name]: found }).find((one) => one.name === name)
      expect(result).toMatchObject({ missing: [], unexpected: [], as_expected: true })
      expect(detectors.length).toBeGreaterThan(20)
    },
  )

  test('missing and unexpected findings are named', () => {
    const findings = [{ finding_id: '1', type: 'cycle', severity: 'high' }]
    const [loop, , , , healthy] = compareFindings({ loop: findings, healthy: findings })
    expect(loop).toMatchObject({ missing: ['repeat_call'], unexpected: ['cycle'] })
    expect(healthy).toMatchObject({ missing: [], unexpected: ['cycle'], as_expected: false })
  })

  test('its rule is in mode shadow and reads the scenario alone; other rules leave it out', () => {
    const rule = buildScenarioRule(newId())
    expect(rule).toMatchObject({ mode: 'shadow', notify: [], escalation: [] })
    const task = { name: 't', release: null, models: ['m'], providers: ['p'] }
    const seeded = { ...task, environment: scenarioEnvironment }
    const real = { ...task, environment: 'prod' }
    expect([groupsOfTask(rule, seeded), groupsOfTask(rule, real)]).toEqual([[{}], []])
    const own = (selector: object) =>
      ruleBody.parse({
        name: 'r',
        severity: 'high',
        event: { match: { source: 'finding' } },
        selector,
      })
    for (const selector of [{}, { environment: ['*'] }, { environment: ['loop*'] }]) {
      expect(groupsOfTask(own(selector), seeded)).toEqual([])
    }
    expect(groupsOfTask(own({}), real)).toEqual([{}])
  })
})
