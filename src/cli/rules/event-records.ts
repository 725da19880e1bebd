import {
  groupsOfTask,
  ledgerMatches,
  matchesChange,
} from '../../capabilities/incidents/evaluation/index.ts'
import type { Group, Rule } from '../../capabilities/incidents/rules/index.ts'
import type { TestCase } from './test-file.ts'

type TestRecord = TestCase['events'][number]

/** Returns how often a record matches an event rule. */
export function countMatches(rule: Rule, record: TestRecord): number {
  const { source, count, kind = '', type = '', severity = 'info', confidence = 1 } = record
  if (!isReadBy(rule, source)) return 0
  if (source === 'ledger') {
    const counts = { [`${type}:${record.reason ?? ''}`]: count }
    const before = { from_ms: 0, counts: {} }
    return ledgerMatches(rule, before, { counts, now_ms: 0 }).times_ms.length
  }
  const finding = { finding_id: '', state: 'open', summary: '' } as const
  const now = { ...finding, kind, type, severity, confidence }
  return matchesChange(rule, { now, before: undefined }) ? count : 0
}

/** Verifications are recorded as findings, so rules for findings match them too. */
function isReadBy({ event }: Rule, source: TestRecord['source']): boolean {
  const wanted = event?.match.source
  return source === wanted || (source === 'verification' && wanted === 'finding')
}

/** Returns the groups of a rule that a record belongs to: those of its task, or the project. */
export function groupsOfRecord(rule: Rule, { source, labels }: TestRecord): Group[] {
  if (source === 'ledger') return [{}]
  const listOf = (value: string | undefined) => (value === undefined ? [] : [value])
  return groupsOfTask(rule, {
    name: labels.task_name ?? '',
    environment: labels.environment ?? null,
    release: labels.release ?? null,
    models: listOf(labels.model),
    providers: listOf(labels.provider),
  })
}
