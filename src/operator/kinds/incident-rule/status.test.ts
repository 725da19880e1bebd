import { describe, expect, test } from 'vitest'
import type { StoredRule } from './rule-api.ts'
import { type IncidentRuleSpec, incidentRuleSpec } from './spec.ts'
import { isEvaluated, ruleConditions, ruleStatus } from './status.ts'

const now_ms = Date.parse('2026-11-23T04:00:00.000Z')
const slot = (ago_s: number) => new Date(now_ms - ago_s * 1_000).toISOString()

function specOf(more: object = {}): IncidentRuleSpec {
  return incidentRuleSpec.parse({
    projectRef: { name: 'default' },
    condition: { signal: 'failure_count', window: '5m', threshold: '3' },
    severity: 'high',
    ...more,
  })
}

function storedOf(evaluation: Partial<StoredRule['evaluation']> = {}): StoredRule {
  return {
    ...{ rule_id: '0199aaaa-0000-7000-8000-000000000000', version: 2, managed_by: null },
    warnings: [],
    missing_channels: [],
    effective_selector: {},
    evaluation: {
      ...{ rule_version: 2, last_slot: slot(60), evaluated_at: slot(0), groups: 1, overflow: 0 },
      ...{ open_incidents: 0, firing: false, healthy: true, last_error: null },
      ...evaluation,
    },
  }
}

const resource = (spec = specOf()) => ({ meta: { generation: 1 }, spec })
const conditions = (stored: StoredRule, spec = specOf()) =>
  Object.fromEntries(
    ruleConditions(stored, spec, now_ms).map(({ type, status, reason }) => [
      type,
      `${status} ${reason}`,
    ]),
  )

describe('lastSlot', () => {
  // As the resource has it: with conditions.
  const shown = ruleStatus(storedOf(), resource(), {})
  const before = { ...shown, conditions: [] }

  test('stays while nothing else changes, so that evaluations write no status', () => {
    const next = storedOf({ last_slot: slot(0) })
    expect(ruleStatus(next, resource(), before)).toEqual(shown)
  })

  test('follows a change, or a resyncPeriod, or an older slot than the shown one', () => {
    const changed = ruleStatus(storedOf({ last_slot: slot(0), groups: 2 }), resource(), before)
    expect(changed).toMatchObject({ lastSlot: slot(0), groups: 2 })
    const later = ruleStatus(storedOf({ last_slot: slot(-541) }), resource(), before)
    expect(later.lastSlot).toBe(slot(-541))
    const restored = ruleStatus(storedOf({ last_slot: slot(700) }), resource(), before)
    expect(restored.lastSlot).toBe(slot(700))
  })

  test('is left out before the first evaluation, also after another one was shown', () => {
    const none = ruleStatus(storedOf({ last_slot: null }), resource(), before)
    expect(none).not.toHaveProperty('lastSlot')
  })
})

test('texts of the service are bounded, and the selector is printed', () => {
  const stored = {
    ...storedOf({ last_error: 'x'.repeat(9_000) }),
    warnings: Array.from({ length: 50 }, () => 'y'.repeat(9_000)),
    effective_selector: { model: ['gpt-*', 'claude-*'], environment: ['production'] },
  }
  const status = ruleStatus(stored, resource(), {})
  expect(status.effectiveSelector).toBe('environment=production; model=gpt-*,claude-*')
  expect([status.lastError?.length, status.warnings?.length]).toEqual([1_000, 20])
  expect(status.warnings?.every((text) => text.length === 1_000)).toBe(true)
})

describe('conditions', () => {
  test('of a rule that is evaluated, and fires', () => {
    expect(conditions(storedOf())).toEqual({
      ...{ Ready: 'True Synced', Healthy: 'True Evaluated', Firing: 'False Inactive' },
    })
    const firing = storedOf({ firing: true, open_incidents: 2 })
    expect(conditions(firing)['Firing']).toBe('True Firing')
  })

  test('wait for one evaluation of the version', () => {
    const stored = storedOf({ rule_version: 1 })
    expect(conditions(stored)).toMatchObject({
      ...{ Ready: 'Unknown NotEvaluated', Healthy: 'Unknown NotEvaluated' },
    })
    expect(isEvaluated(stored, specOf())).toBe(false)
    const event = specOf({ condition: undefined, event: { match: { source: 'finding' } } })
    expect(conditions(stored, event)).toMatchObject({ Ready: 'True Synced' })
    const suspended = specOf({ suspendEvaluation: true })
    expect(conditions(stored, suspended)).toMatchObject({
      ...{ Ready: 'True Synced', Healthy: 'Unknown Suspended' },
    })
  })

  test('report a failure, and slots that do not advance', () => {
    const failed = storedOf({ healthy: false, last_error: 'query over 10 s' })
    expect(conditions(failed)['Healthy']).toBe('False EvaluationFailed')
    // The delay, three intervals and five minutes.
    expect(conditions(storedOf({ last_slot: slot(540) }))['Healthy']).toBe('True Evaluated')
    expect(conditions(storedOf({ last_slot: slot(541) }))['Healthy']).toBe('False Behind')
  })
})
