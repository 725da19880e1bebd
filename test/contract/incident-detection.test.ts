import { expect, test } from 'vitest'
import type { OnFindings } from '../../src/capabilities/detection/index.ts'
import { openFindingsMatcher } from '../../src/capabilities/incidents/index.ts'
import type { IncidentDb } from '../../src/capabilities/incidents/ports.ts'
import { ruleShape } from '../../src/capabilities/incidents/rules/rule.ts'
import { createMetrics } from '../../src/platform/telemetry/index.ts'
import { agentRun } from '../corpus/agent-run.ts'
import { openDetectionBench } from '../support/detection.ts'
import { addRule, quietLogger as logger } from '../support/incident-bench.ts'

/** Calls of a task that repeats one call. */
function loopOf(project_id: string, times: number) {
  return agentRun(`${project_id} loop`, { project_id, task_id: 'task', tools: ['look'] })
    .user('Where is the order?')
    .times(times, (run) => run.tool({ name: 'look', args: { id: 7 } }, 'nothing'))
    .observations()
}

test('the transaction that stores a finding opens its incident, once, and wakes the sender', async () => {
  await using bench = await openDetectionBench()
  const db = bench.db as unknown as IncidentDb
  const project_id = await bench.newProject()
  const match = { source: 'finding', kinds: ['loop'] }
  const rule = ruleShape.parse({
    ...{ name: 'loops', severity: 'high', notify: ['on-call'], event: { match } },
    group_by: ['task_name'],
  })
  await addRule(db, project_id, rule)
  let wakes = 0
  const wakeSender = () => {
    wakes += 1
  }
  const matcher = openFindingsMatcher({ logger, metrics: createMetrics(), wakeSender })
  const onFindings: OnFindings = (trx, stored) =>
    matcher(trx as unknown as Parameters<typeof matcher>[0], stored)
  bench.startWorker({ onFindings })
  // The second part of the run updates the finding, which opens nothing again.
  const rows = loopOf(project_id, 8)
  await bench.bring(rows.slice(0, Math.ceil(rows.length / 2)))
  await bench.untilDetected()
  await bench.bring(rows)
  await bench.untilDetected()
  const [finding] = await bench.db
    .selectFrom('findings')
    .select(['finding_id', 'first_detected_at'])
    .where('project_id', '=', project_id)
    .where('type', '=', 'repeat_call')
    .execute()
  const incidents = await db
    .selectFrom('incidents')
    .selectAll()
    .where('project_id', '=', project_id)
    .execute()
  expect(incidents).toMatchObject([{ rule_name: 'loops', state: 'open' }])
  const ids = incidents.flatMap(({ evidence }) => evidence.map(({ id }) => id))
  expect(ids).toContain(finding?.finding_id)
  expect(new Set(ids).size).toBe(ids.length)
  const messages = db.selectFrom('notification_outbox').select('reason')
  expect(await messages.where('project_id', '=', project_id).execute()).toEqual([
    { reason: 'opened' },
  ])
  expect(wakes).toBe(1)
})
