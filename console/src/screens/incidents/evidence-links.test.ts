import { expect, test } from 'vitest'
import type { EvidenceFinding } from '../../api/schema.gen.d.ts'
import { taskSearch, whereOf } from './evidence-links.ts'

const finding: EvidenceFinding = {
  finding_id: '0199f4de-0000-7000-8000-000000000001',
  ...{ task_id: 't-1', kind: 'loop', type: 'repeat_call', state: 'open', severity: 'high' },
  ...{ confidence: 0.9, summary: 'a loop', start_step: 0, trace_id: 'aa', observation_id: 'bb' },
}

test('a finding leads to its first step, also to step 0, which pages show as 1, and to its observation', () => {
  const evidence = { kind: 'finding', task_id: 'older', finding } as const
  expect(whereOf(evidence)).toEqual({ task_id: 't-1', trace_id: 'aa', step: 0 })
  expect(taskSearch(evidence)).toEqual({ step: '1', node: 'bb' })
})

test('a finding of a whole task, and a deleted one, have no step', () => {
  const whole = { ...finding, start_step: null, trace_id: null, observation_id: null }
  expect(taskSearch({ kind: 'finding', task_id: 't-1', finding: whole })).toEqual({})
  expect(whereOf({ kind: 'finding', id: 'x', task_id: 't-1', finding: null })).toEqual({
    ...{ task_id: 't-1', trace_id: undefined, step: undefined },
  })
})

test('the id of a call or task is where it is', () => {
  expect(whereOf({ kind: 'trace', id: 'cc', finding: null }).trace_id).toBe('cc')
  expect(whereOf({ kind: 'task', id: 't-2', finding: null }).task_id).toBe('t-2')
})
