import { describe, expect, test } from 'vitest'
import { scoreRuns, sumScores } from '../../bench/detection/score-runs.ts'
import { rowsOf, stepOfMessage } from '../../bench/detection/service-runs.ts'
import { runDetectors } from '../../src/capabilities/detection/analyse/run-detectors.ts'
import {
  createReconstruction,
  reconstruct,
} from '../../src/capabilities/detection/reconstruction/index.ts'
import { defaultDetectionSettings } from '../../src/capabilities/detection/settings/detector-settings.ts'
import { quarterOf } from '../support/suite/budget.ts'
import { ownServiceRuns, serviceRuns, serviceScore } from './service-section.ts'

describe('runs of customer-service agents', () => {
  test('are read whole: each answer is a step, each result has its call', () => {
    const runs = serviceRuns()
    expect(runs).toHaveLength(153)
    for (const run of runs) {
      const { steps, tools } = reconstruct(rowsOf(run))
      const answers = run.messages.filter(({ role }) => role === 'assistant')
      expect(steps, run.id).toHaveLength(answers.length)
      const results = run.messages.filter(({ role }) => role === 'tool')
      expect(
        tools.filter((use) => use.is_answered),
        run.id,
      ).toHaveLength(results.length)
      expect(stepOfMessage(run, run.messages.length - 1)).toBe(answers.length - 1)
    }
  })

  test('that grow call by call end with the findings of the whole run', () => {
    const settings = defaultDetectionSettings()
    const about = { project_id: '', task_id: '', conversation_id: '' }
    for (const run of quarterOf(serviceRuns())) {
      const rows = rowsOf(run)
      const growing = createReconstruction(about)
      for (const row of rows) {
        growing.add([row])
        runDetectors(growing.run(), settings)
      }
      const { findings } = runDetectors(growing.run(), settings)
      expect(findings, run.id).toEqual(runDetectors(reconstruct(rows, about), settings).findings)
    }
  })

  test('healthy ones have at most one finding of medium or higher, and low ones of unsourced values', () => {
    const { healthy } = serviceScore()
    expect(healthy.medium.of).toBe(114)
    expect(healthy.medium.part).toBeLessThanOrEqual(1)
    expect(healthy.high.part).toBe(0)
    // Values without a source are listed, so that nearly half of them have a low finding.
    expect(healthy.low.part).toBeLessThanOrEqual(50)
  })

  test('faults are found', () => {
    const { recall } = serviceScore()
    const floors = {
      asked_again: 3,
      claimed_never_called: 2,
      hidden_tool_error: 7,
      repeated_failing_call: 5,
    }
    for (const [kind, floor] of Object.entries(floors)) {
      expect(recall[kind]?.any.part, kind).toBeGreaterThanOrEqual(floor)
    }
  })

  test('of the own runs no healthy one has a finding of medium or higher, and most faults are found', () => {
    const { healthy, recall } = sumScores(scoreRuns(ownServiceRuns()))
    expect(healthy.medium).toEqual({ part: 0, of: 108 })
    const floors = {
      asked_again: 8,
      claimed_never_called: 11,
      contradicted: 4,
      hidden_tool_error: 10,
      lost_fact: 8,
    }
    for (const [kind, floor] of Object.entries(floors)) {
      expect(recall[kind]?.any.part, kind).toBeGreaterThanOrEqual(floor)
    }
  })

  test('a fault counts as found only near its message, and by a type that names it', () => {
    const [run] = serviceRuns().filter(({ fault }) => fault?.kind === 'repeated_failing_call')
    if (run === undefined || run.fault === null) throw new Error('no such run')
    const foundAt = (fault: typeof run.fault) => scoreRuns([{ ...run, fault }])[0]?.found?.type
    expect(foundAt(run.fault)).toBe('repeat_error')
    expect(foundAt({ ...run.fault, kind: 'constraint_broken' })).toBeUndefined()
  })
})
