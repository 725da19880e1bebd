import { describe, expect, test } from 'vitest'
import { policyBody, shareDefaults } from '../policy/policy.ts'
import { judgeTasks, type TaskCounts } from './task-counts.ts'

const calm: TaskCounts = {
  ...{ total: 1_000, late: 0, altered: 0, equal: 0, jump: 0 },
  ...{ running: 0, unanalysed: 0, unchecked: 0, unverified: 0, unpriced: 0 },
}

const success = { metric: 'task_success_rate', kind: 'absolute', threshold: 0.9 }

function judge(
  counts: Partial<TaskCounts>,
  change: object = {},
  baseline: Partial<TaskCounts> | null = null,
) {
  const rules = policyBody.parse({ gates: [success], ...change })
  return judgeTasks(rules, {
    release: { ...calm, ...counts },
    baseline: baseline && { ...calm, ...baseline },
  })
}

describe('shares of doubtful tasks', () => {
  const limits: [Partial<TaskCounts>, Partial<TaskCounts>, string][] = [
    [{ late: 10 }, { late: 11 }, 'late_evidence'],
    [{ late: 5, altered: 5 }, { late: 5, altered: 6 }, 'late_evidence'],
    [{ equal: 100 }, { equal: 101 }, 'equal_evidence'],
    [{ jump: 500 }, { jump: 501 }, 'evidence_jump'],
  ]
  test.each(limits)('%j is allowed, %j is %s', (few, many, obstacle) => {
    expect(judge(few)).toEqual({ obstacles: [], warnings: [] })
    expect(judge(many).obstacles).toEqual([obstacle])
    const broken = Object.fromEntries(Object.keys(many).map((field) => [field, Number.NaN]))
    expect(judge(broken).obstacles).toEqual([obstacle])
  })

  test('of the baseline have their own obstacles', () => {
    const doubtful = { late: 11, equal: 101, jump: 501 }
    const expected = ['late_baseline', 'equal_baseline', 'baseline_jump']
    expect(judge({}, {}, doubtful).obstacles).toEqual(expected)
  })

  test('need tasks', () => {
    expect(judge({ total: 0 })).toEqual({ obstacles: [], warnings: [] })
    const rules = policyBody.parse({
      gates: [{ metric: 'eval_pass_rate', kind: 'absolute', threshold: 0.9 }],
    })
    const none = judgeTasks(rules, { release: null, baseline: null })
    expect(none).toEqual({ obstacles: [], warnings: [] })
  })
})

describe('missing values', () => {
  const gates = (metric: string, tier: string) => ({
    gates: [
      { metric, tier, kind: 'absolute', threshold: 0.9 },
      { metric: 'negative_feedback_rate', kind: 'absolute', threshold: 0.5 },
    ],
  })
  const needed: [string, keyof TaskCounts][] = [
    ['task_success_rate', 'running'],
    ['unresolved_failure_rate', 'unanalysed'],
    ['loop_rate', 'unanalysed'],
    ['context_failure_rate', 'unanalysed'],
    ['unsupported_claim_rate', 'unanalysed'],
    ['unsupported_claim_rate', 'unchecked'],
    ['trust_score_mean', 'unverified'],
    ['cost_mean_usd', 'unpriced'],
    ['cost_mean_usd', 'running'],
    ['duration_mean_ms', 'running'],
  ]
  test.each(needed)('that %s needs are an obstacle: %s', (metric, kind) => {
    const name = `many_${kind}_tasks`
    expect(judge({ [kind]: 50 }, gates(metric, 'critical'))).toEqual({
      ...{ obstacles: [], warnings: [] },
    })
    expect(judge({ [kind]: 51 }, gates(metric, 'supporting'))).toEqual({
      ...{ obstacles: [name], warnings: [] },
    })
    expect(judge({ [kind]: 51 }, gates(metric, 'advisory'))).toEqual({
      ...{ obstacles: [], warnings: [name] },
    })
    const allowed = { ...gates(metric, 'critical'), max_missing_share: 0.051 }
    expect(judge({ [kind]: 51 }, allowed).obstacles).toEqual([])
  })

  test('that no gate needs are a warning, or nothing', () => {
    const all = { running: 51, unanalysed: 51, unchecked: 51, unverified: 51, unpriced: 51 }
    expect(judge(all, gates('eval_pass_rate', 'advisory'))).toEqual({
      ...{ obstacles: [], warnings: ['many_running_tasks', 'many_unanalysed_tasks'] },
    })
  })

  test('of the baseline count for a regression only', () => {
    const of = (kind: string) => {
      const limit = kind === 'regression' ? { max_drop: 0.1 } : { threshold: 0.1 }
      const rules = { gates: [{ metric: 'loop_rate', kind, ...limit }] }
      return judge({}, rules, { unanalysed: 51 }).obstacles
    }
    expect(of('regression')).toEqual(['many_unanalysed_tasks'])
    expect(of('absolute')).toEqual([])
  })
})

test('the defaults are those of the policy', () => {
  const rules = policyBody.parse({
    gates: [{ metric: 'loop_rate', kind: 'absolute', threshold: 0.1 }],
  })
  expect(rules).toMatchObject(shareDefaults)
})
