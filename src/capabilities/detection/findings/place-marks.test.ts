import { expect, test } from 'vitest'
import { indexMarks } from './place-marks.ts'

const place = (observation_id: string, trace_id = 't1') => ({ trace_id, observation_id })
const open = { state: 'open' as const }

test('an observation has the findings that name it, and the step of one that starts there', () => {
  const marksAt = indexMarks([
    { ...open, finding_id: 'loop', start_step: 2, places: [place('a'), place('b'), place('b')] },
    { ...open, finding_id: 'call', start_step: null, places: [place('b'), place('x', 't2')] },
    { ...open, finding_id: 'none', start_step: 7, places: [] },
    { finding_id: 'gone', state: 'withdrawn', start_step: 9, places: [place('a'), place('c')] },
  ])
  expect(marksAt(place('a'))).toEqual({ step: 2, step_number: 3, findings: ['loop'] })
  expect(marksAt(place('b'))).toEqual({ step: null, step_number: null, findings: ['loop', 'call'] })
  expect(marksAt(place('x')).findings).toEqual([])
  expect(marksAt(place('x', 't2')).findings).toEqual(['call'])
  expect(marksAt(place('c'))).toEqual({ step: null, step_number: null, findings: [] })
})
