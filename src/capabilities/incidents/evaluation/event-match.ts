import { matchesGlob } from '../../../kernel/glob.ts'
import { verificationTypes } from '../../../model/finding-kind.ts'
import { scenarioEnvironment } from '../../../model/reserved-environment.ts'
import { type Severity, severities } from '../../../model/severity.ts'
import type { EventMatch } from '../rules/condition-kinds.ts'
import { boundedGroup, type Group, maxGroupValueChars } from '../rules/groups.ts'
import { readsScenario } from '../rules/reads-scenario.ts'
import type { Dimension, Rule } from '../rules/rule.ts'

/** The fields of a finding that event rules match. */
export type MatchedFinding = {
  finding_id: string
  kind: string
  type: string
  severity: Severity
  state: 'open' | 'recovered' | 'withdrawn'
  confidence: number
  summary: string
}

/** A finding that was stored, and how it was stored before. */
export type FindingChange = { now: MatchedFinding; before: MatchedFinding | undefined }

/** Values of the dimensions of a task. A task has no tags. */
export type TaskDimensions = {
  name: string
  environment: string | null
  release: string | null
  models: readonly string[]
  providers: readonly string[]
}

/**
 * Returns whether a rule matches a change of a finding: the finding matches, and it did not match
 * before. So a finding matches when it is opened or opened again after it was withdrawn, and when
 * its severity or confidence reaches the minimum, and not again with each update.
 */
export function matchesChange(rule: Rule, { now, before }: FindingChange): boolean {
  return matchesFinding(rule, now) && !(before !== undefined && matchesFinding(rule, before))
}

function matchesFinding({ event }: Rule, finding: MatchedFinding): boolean {
  if (event === undefined || finding.state === 'withdrawn') return false
  if (!isFrom(event.match.source, finding)) return false
  const { kinds, types, min_severity = 'info', min_confidence = 0 } = event.match
  return (
    (kinds === undefined || kinds.some((kind) => kind === finding.kind)) &&
    (types === undefined || types.includes(finding.type)) &&
    severities.indexOf(finding.severity) >= severities.indexOf(min_severity) &&
    finding.confidence >= min_confidence
  )
}

function isFrom(source: EventMatch['source'], { type }: MatchedFinding): boolean {
  return (
    source === 'finding' ||
    (source === 'verification' && verificationTypes.some((one) => one === type))
  )
}

/** A task of many models is in the group of each of them, up to this number of groups. */
const groups_max = 50

/**
 * Returns the groups of a rule that a task belongs to; none if the selector excludes the task. A
 * missing value is empty text, as in the signals.
 */
export function groupsOfTask({ selector, group_by }: Rule, task: TaskDimensions): Group[] {
  if (task.environment === scenarioEnvironment && !readsScenario(selector)) return []
  const selected = (dimension: Dimension): string[] => {
    const globs = selector[dimension]
    const values = valuesOf(dimension, task)
    return globs === undefined
      ? values
      : values.filter((value) => globs.some((glob) => matchesGlob(value, glob)))
  }
  const named = Object.keys(selector) as Dimension[]
  if (named.some((dimension) => selected(dimension).length === 0)) return []
  let groups: Group[] = [{}]
  for (const dimension of group_by) {
    const values = selected(dimension)
    groups = groups
      .flatMap((group) => values.map((value) => ({ ...group, [dimension]: value })))
      .slice(0, groups_max)
  }
  return groups.map(boundedGroup)
}

function valuesOf(dimension: Dimension, task: TaskDimensions): string[] {
  const lists: Record<Dimension, readonly (string | null)[]> = {
    model: task.models,
    provider: task.providers,
    environment: [task.environment],
    task_name: [task.name],
    release: [task.release],
    tag: [],
  }
  // Cut as the signals cut them, so that their groups are equal.
  const values = lists[dimension].map((value) => cut(value ?? ''))
  return values.length === 0 ? [''] : [...new Set(values)]
}

function cut(value: string): string {
  if (value.length <= maxGroupValueChars) return value
  return [...value].slice(0, maxGroupValueChars).join('')
}
