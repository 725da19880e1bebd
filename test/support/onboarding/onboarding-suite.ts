import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { beforeAll, describe, expect, test } from 'vitest'
import { main } from '../bundle.ts'
import { childEnv } from '../child-env.ts'
import { type Api, accessToken, apiByKey, apiByToken } from '../clients/api-reader.ts'
import type { ClientShape } from '../clients/client-shape.ts'
import { eventually } from '../eventually.ts'
import { runShell, shellBlocks } from '../shell-commands.ts'
import type { Json } from '../verification-api.ts'

const base = '/api/v1/onboarding'
const scenarioUrl = `${base}/seeded-reliability-scenario`

/** An archive run waits for rows that are on their way. */
const command_ms_max = 90_000

/** A time-out, no target: the measured time is printed. */
const scenario_ms_max = 60_000

/** Sets a fresh installation up by what its report says, in any shape of the service. */
export function onboardingSuite(shape: () => ClientShape): void {
  let byKey: Api
  let byToken: Api
  let scenario: Json

  const report = async (): Promise<Json> => {
    const { status, body } = await byKey.get(`${base}/report`)
    expect(status).toBe(200)
    return body
  }
  const checkOf = (body: Json, id: string): Json => body.checks.find((one: Json) => one.id === id)

  beforeAll(async () => {
    byKey = apiByKey(shape())
    byToken = await apiByToken(shape())
  })

  /** Runs `looptrace doctor` against the service. */
  const doctor = (): Promise<{ status: number; stdout: string }> =>
    new Promise((resolve) => {
      const { api_url, proxy_url, login } = shape()
      const env = childEnv({
        ...{ LOOPTRACE_URL: api_url, LOOPTRACE_PROXY_URL: proxy_url },
        LOOPTRACE_API_KEY: login.project_key,
      })
      execFile(process.execPath, [main, 'doctor'], { env }, (error, stdout) => {
        resolve({ status: error === null ? 0 : Number(error.code), stdout })
      })
    })

  test('the report of a fresh installation names what is missing, with commands', async () => {
    const body = await report()
    expect(body).toMatchObject({ project_id: shape().login.project_id, ready: false, unknown: 0 })
    expect(checkOf(body, 'project_key')).toMatchObject({ state: 'done', commands: [] })
    for (const check of body.checks) {
      expect(check.commands.length > 0, check.id).toBe(check.state === 'missing')
    }
    expect(body.caller).toMatchObject({ kind: 'key', environment: null })
    const { status, stdout } = await doctor()
    expect([status, stdout]).toEqual([1, expect.stringContaining('done     The proxy answers')])
    expect(stdout).toContain('missing  A completion through the proxy')
    // The doctor sent no call.
    expect((await byKey.get('/api/v1/tasks')).body).toMatchObject({ total: 0 })
  })

  test('the seeded scenario finds what it planted, and nothing in the healthy agent', async () => {
    const started_ms = performance.now()
    const first = await byKey.post(scenarioUrl)
    expect(first).toMatchObject({ status: 202, body: { state: 'running', outcome: null } })
    const { scenario_id } = first.body as Json
    // A second start at the same time is the same run.
    expect((await byKey.post(scenarioUrl)).body['scenario_id']).toBe(scenario_id)
    scenario = await eventually(
      'the scenario has ended',
      async () => {
        const { body } = await byKey.get(`${scenarioUrl}/${scenario_id}`)
        return body['state'] === 'ended' && body
      },
      { timeout_ms: scenario_ms_max },
    )
    const took_ms = Math.round(performance.now() - started_ms)
    process.stdout.write(`seeded scenario: ${took_ms} ms end to end\n`)
    expect(scenario).toMatchObject({ outcome: 'as_expected', error: null, steps_done: 7 })
    const found = scenario.agents.map((one: Json) => [one.name, one.found.map((f: Json) => f.type)])
    expect(found).toEqual([
      ['loop', ['repeat_call']],
      ['failure', ['tool_failure']],
      ['lost_context', ['lost_context']],
      ['invented_figure', ['unsupported_value']],
      ['healthy', []],
    ])
    expect(scenario.verification).toMatchObject({ as_expected: true })
    expect(scenario.verification.claim).toContain('$900.00')
    expect(scenario.incident).toMatchObject({ as_expected: true })
  })

  test('its links lead to tasks, findings, the incident and the verified claims', async () => {
    const links = scenario.agents.flatMap((one: Json) => Object.values(one.links))
    for (const link of links) expect((await byKey.get(link)).status, link).toBe(200)
    const incident = await byToken.get(scenario.incident.link)
    expect(incident).toMatchObject({ status: 200, body: { shadow: true } })
    const claims = await byToken.get(scenario.verification.link)
    expect(claims.status).toBe(200)
    const task = await byKey.get(scenario.agents[0].links.task)
    expect(task.body).toMatchObject({ environment: 'looptrace-onboarding', state: 'completed' })
  })

  test('a second start returns the run; the report knows it, and no step of the project', async () => {
    const again = await byKey.post(scenarioUrl)
    expect(again).toMatchObject({ status: 200, body: { scenario_id: scenario.scenario_id } })
    const body = await report()
    expect(checkOf(body, 'seeded_scenario')).toMatchObject({ state: 'done' })
    for (const id of ['first_call', 'first_task', 'first_verdict', 'incident_rule']) {
      expect(checkOf(body, id).state, id).toBe('missing')
    }
  })

  test('each command of the report does what it says', async () => {
    const env = {
      LOOPTRACE_URL: shape().api_url,
      LOOPTRACE_PROXY_URL: shape().proxy_url,
      LOOPTRACE_API_KEY: shape().login.project_key,
      LOOPTRACE_TOKEN: await accessToken(shape()),
      OPENAI_API_KEY: 'provider-key',
      ALERT_WEBHOOK_URL: 'https://incidents.example.com/looptrace',
    }
    const missing = (await report()).checks.filter((one: Json) => one.state === 'missing')
    const tried: string[] = []
    for (const { id } of missing) {
      const check = checkOf(await report(), id)
      if (check.state === 'done' || check.detail.includes('not configured')) continue
      await runShell(check.commands[0].text, env)
      tried.push(id)
      await eventually(`${id} is done`, async () => checkOf(await report(), id).state === 'done', {
        timeout_ms: command_ms_max,
      })
    }
    expect(tried).toContain('first_span')
    const body = await report()
    expect(body).toMatchObject({ ready: true })
    expect(await doctor()).toMatchObject({ status: 0 })
    expect(
      body.checks.filter((one: Json) => one.state !== 'done').map((one: Json) => one.id),
    ).toEqual(checkOf(body, 'archive').state === 'done' ? [] : ['archive'])
  })

  test('the funnel has the steps of the project from its data', async () => {
    const { status, body } = await byKey.get(`${base}/funnel?subjects=project`)
    expect(status).toBe(200)
    const steps: Json[] = (body as Json).steps
    expect(body).toMatchObject({ subjects: 1, unknown_steps: [], truncated: false })
    expect(steps.map(({ done }) => done)).toEqual([1, 1, 1, 1, 1, 1, 1, 1])
  })

  describe('removal', () => {
    test('removes the data of the scenario, and no other', async () => {
      const removal = await remove(shape())
      expect(removal).toMatchObject({ status: 202, body: { scenario_ids: [scenario.scenario_id] } })
      expect((await byToken.get(scenario.incident.link)).status).toBe(404)
      const rules = '/api/v2/observability/incidents/rules'
      expect((await byToken.get(`${rules}/${scenario.incident.rule_id}`)).status).toBe(404)
      const [erasure_id] = (removal.body as Json).erasure_ids
      await eventually(
        'the erasure is completed',
        async () => {
          const { body } = await byToken.get(`/api/v2/observability/erasures/${erasure_id}`)
          return body['state'] === 'completed'
        },
        { timeout_ms: 60_000 },
      )
      for (const { links } of scenario.agents) {
        expect((await byKey.get(links.task)).status).toBe(404)
      }
      expect((await byKey.get('/api/v1/tasks/my-first-task')).status).toBe(200)
      const { body } = await byKey.get(scenarioUrl)
      expect(body['removed_at']).not.toBeNull()
      expect(await remove(shape())).toMatchObject({ status: 202, body: { scenario_ids: [] } })
    })
  })

  test('the commands of the guide do what it says', async () => {
    const [inspect = '', play = '', removal = '', events = '', ...others] = await shellBlocks(
      'docs/guides/prove-your-install.md',
    )
    expect(others).toEqual([])
    const env = {
      ...{ LOOPTRACE_URL: shape().api_url, LOOPTRACE_PROXY_URL: shape().proxy_url },
      LOOPTRACE_API_KEY: shape().login.project_key,
    }
    const run = (commands: string) =>
      runShell(`looptrace() { "${process.execPath}" "${main}" "$@"; }\n${commands}`, env)
    const guide = await readFile('docs/guides/prove-your-install.md', 'utf8')
    const [, shown = ''] = /```\n(done [\s\S]*?)missing/.exec(guide) ?? []
    expect(await run(inspect)).toContain(shown)
    expect(await run(play)).toContain('"outcome":"as_expected"')
    expect(await run(removal)).toMatch(/"erasure_ids":\["/)
    const answers = await run(events)
    expect(answers).toContain('"accepted":1')
    expect(answers).toContain('"cohorts":[{"week":')
  })
}

async function remove({ api_url, login }: ClientShape): Promise<{ status: number; body: unknown }> {
  const answer = await fetch(api_url + scenarioUrl, {
    method: 'DELETE',
    headers: { 'x-api-key': login.project_key },
  })
  return { status: answer.status, body: await answer.json() }
}
