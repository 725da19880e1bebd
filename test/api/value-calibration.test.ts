import { afterAll, beforeAll, expect, test } from 'vitest'
import { openValueCalibration } from '../../src/capabilities/verification/index.ts'
import { readValueRecord } from '../../src/capabilities/verification/trust/value-calibration-store.ts'
import { insertFinding } from '../support/findings.ts'
import { type InsightApi, noon_ms, openInsightApi, personOf } from '../support/insight-api.ts'

let api: InsightApi
beforeAll(async () => {
  api = await openInsightApi()
})
afterAll(() => api?.[Symbol.asyncDispose]())

function seedFinding(
  project_id: string,
  task_id: string,
  state: 'open' | 'withdrawn' = 'open',
): Promise<string> {
  return insertFinding(api.db, {
    ...{ project_id, task_id, places: [], kind: 'claim', type: 'unsupported_value', state },
    ...{ detector: 'unsupported_value', detector_version: 3, severity: 'low', repeats: 3 },
  })
}

const verdict = JSON.stringify({ values: { checked: 400, not_checked: 0 } })

test('counts values and labels of its own project', async () => {
  const project = await api.newProject()
  const other = await api.newProject()
  for (const task of ['a', 'b']) await api.seedTask(project, task, { verdict })
  const finding_id = await seedFinding(project, 'a')
  await seedFinding(project, 'b', 'withdrawn')
  const label = { label: 'incorrect', findings: [{ finding_id, verdict: 'right' }] }
  const { status, body } = await api.call('POST', '/review/a/labels', project, {
    headers: personOf('anna', 'editor', project),
    body: label,
  })
  expect(status, JSON.stringify(body)).toBeLessThan(300)
  expect(await readValueRecord(api.db, project)).toEqual({
    ...{ values: 800, unexplained: 3, reviewed: 1, right: 1 },
  })
  const none = { values: 0, unexplained: 0, reviewed: 0, right: 0 }
  expect(await readValueRecord(api.db, other)).toEqual(none)
  const clock = { now_ms: () => noon_ms }
  const calibrated = await openValueCalibration(api.db, clock as never)(project)
  const evidence = {
    ...{ values_found: 9, values_total: 10 },
    values: [{ kind: 'money', severity: 'low', reason: null }],
  }
  expect(calibrated({ type: 'unsupported_value', severity: 'low', evidence })).toMatchObject({
    severity: 'medium',
    evidence: { calibration: { shift: 'raise', basis: expect.stringContaining('3 of 800') } },
  })
})
