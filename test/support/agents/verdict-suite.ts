import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import OpenAI from 'openai'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Api, apiByKey } from '../clients/api-reader.ts'
import type { ClientShape } from '../clients/client-shape.ts'
import { eventually } from '../eventually.ts'
import { quarterOf } from '../suite/budget.ts'
import { scenarioScript, scenarios } from './scenarios.ts'
import { type AgentRun, runAgent } from './tool-agent.ts'

type Judged = { findings: Found[]; lag_ms: number }

type Found = {
  kind: string
  type: string
  severity: string
  start_step: number | null
  places: readonly { trace_id: string }[]
}

/**
 * Tests the verdicts that the owner of an agent reads after a run through the real proxy, on any
 * shape of the service.
 */
export function verdictSuite(running: () => ClientShape): void {
  let shape: ClientShape
  let api: Api

  beforeAll(async () => {
    shape = running()
    await shape.provider.script(scenarioScript)
    api = apiByKey(shape)
  })

  /** Runs the agent as a task of its own conversation. */
  async function runAs(task_id: string, conversation_id: string, run: AgentRun): Promise<number> {
    const client = new OpenAI({
      baseURL: `${shape.proxy_url}/v1`,
      apiKey: 'provider-key-of-the-agent',
      defaultHeaders: {
        'X-API-Key': shape.login.project_key,
        'X-Task-ID': task_id,
        'X-Conversation-ID': conversation_id,
      },
    })
    return runAgent(client, run)
  }

  /** The findings once all calls of the task were analysed. */
  async function judged(task_id: string, calls: number): Promise<Judged> {
    const over_ms = Date.now()
    const findings = await eventually(`${task_id} is judged`, async () => {
      const task = await api.get(`/api/v1/tasks/${task_id}`)
      if (task.status !== 200 || task.body['calls'] !== calls) return undefined
      const { body } = await api.get(`/api/v1/tasks/${task_id}/findings`)
      return body['is_current'] === true && (body['findings'] as Found[])
    })
    return { findings, lag_ms: Date.now() - over_ms }
  }

  describe.each(quarterOf(scenarios))('$name', ({ name, ill, healthy }) => {
    test('reports the finding with the step that it began with', async () => {
      const [task_id, conversation_id] = [`ill-${randomUUID()}`, randomUUID()]
      const calls = await runAs(task_id, conversation_id, ill.run)
      const { findings, lag_ms } = await judged(task_id, calls)
      console.log(`${name}: reported ${lag_ms} ms after the run`)
      expect(findings).toContainEqual(expect.objectContaining(ill.finding))
      const [found] = findings
      if (found !== undefined) await expectGuides({ task_id, conversation_id }, found)
      const task = (await api.get(`/api/v1/tasks/${task_id}`)).body
      expect(task).toMatchObject({ verdict: { summary: expect.stringMatching(/\w/) } })
      if (ill.finding.kind === 'context') await expectContextFailure(conversation_id, task_id)
      if (ill.finding.kind === 'loop') await expectLoop(task_id)
    })

    test('reports nothing for its healthy twin', async () => {
      const task_id = `healthy-${randomUUID()}`
      const calls = await runAs(task_id, randomUUID(), healthy)
      const { findings } = await judged(task_id, calls)
      expect(findings.filter(({ severity }) => severity !== 'info')).toEqual([])
    })
  })

  /**
   * Expects an answer to every request of the guides for a task, its conversation and its traces.
   */
  async function expectGuides(
    run: { task_id: string; conversation_id: string },
    { places }: Found,
  ): Promise<void> {
    const named: Record<string, string | undefined> = {
      TASK: run.task_id,
      CONVERSATION: run.conversation_id,
      TRACE: places[0]?.trace_id,
      OTHER: places[1]?.trace_id ?? places[0]?.trace_id,
    }
    for (const guide of ['why-did-my-agent-loop', 'read-a-trace']) {
      const text = await readFile(`docs/guides/${guide}.md`, 'utf8')
      // A stream of events has no end; test/e2e/events.test.ts reads it.
      const paths = [...text.matchAll(/"\$LOOPTRACE_URL([^"]+)"/g)]
        .map(([, path = '']) => path)
        .filter((path) => !path.startsWith('/api/v1/events'))
      expect(paths.length).toBeGreaterThan(4)
      for (const path of paths) {
        const asked = path.replaceAll(/\$([A-Z]+)/g, (_all, name: string) => named[name] ?? '')
        expect([asked, (await api.get(asked)).status]).toEqual([asked, 200])
      }
    }
  }

  async function expectLoop(task_id: string): Promise<void> {
    const { body } = await api.get(`/api/v1/tasks/${task_id}/loops`)
    expect(body).toMatchObject({ loops: [{ type: 'repeat_call', start_step: 0 }], total: 1 })
  }

  async function expectContextFailure(conversation_id: string, task_id: string): Promise<void> {
    const { status, body } = await api.get(
      `/api/v1/conversations/${conversation_id}/context-failures`,
    )
    expect(status).toBe(200)
    expect(body).toMatchObject({
      conversation_id,
      total_failures: 1,
      failures: [{ type: 'lost_context', failure_type: 'lost_context', task_id }],
    })
  }
}
