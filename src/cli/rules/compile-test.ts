import { type Suppression, suppressionBody } from '../../capabilities/incidents/muting/index.ts'
import { type Group, groupKey, type Rule } from '../../capabilities/incidents/rules/index.ts'
import { durationMs } from '../../kernel/duration.ts'
import { parseWritten } from '../zod-faults.ts'
import { bindSeries } from './bind-series.ts'
import { groupsOfRecord } from './event-records.ts'
import type { FaultSink } from './fault-sink.ts'
import { groupOf, Measurements } from './measurements.ts'
import { readSeries } from './read-series.ts'
import type { Expectation, TestCase } from './test-file.ts'

/** A test whose texts are parsed and whose names are known. */
export type CompiledTest = {
  name: string
  start_ms: number
  rules: readonly Rule[]
  measurements: Measurements
  suppressions: readonly { id: string; body: Suppression }[]
  /** Times at which no evaluator runs. */
  gaps: readonly Period[]
  /** Acts besides the evaluation, in the order of time. */
  acts: readonly Act[]
  expectations: readonly CompiledExpectation[]
}

type Period = { from_ms: number; to_ms: number }

/** Something that happens at a time of a test. */
export type Act = { at_ms: number } & (
  | { type: 'store'; record: TestCase['events'][number] }
  | { type: 'move'; move: TestCase['moves'][number]; rule: Rule; sink: FaultSink }
  | { type: 'delete'; rule: Rule }
  | { type: 'restart' }
)

/** An expectation with its rule, its group and its place in the file. */
export type CompiledExpectation = {
  at_ms: number
  rule: Rule
  group: Group
  expected: Expectation
  path: FaultSink['path']
}

/** Compiles a test. What is wrong is added to the faults. */
export function compileTest(
  test: TestCase,
  rules: readonly Rule[],
  faults: FaultSink,
): CompiledTest {
  const start_ms = Date.parse(test.start)
  const series = readSeries(test, start_ms, faults)
  const rows = series.map(({ name }) => name.labels)
  const context: Context = {
    start_ms,
    rows,
    records: test.events,
    rules: new Map(rules.map((rule) => [rule.name, rule])),
  }
  const bound = bindSeries(rules, series)
  faults.faults.push(...bound.faults)
  const times = {
    start_ms,
    interval_ms: durationMs(test.interval),
    stored_for_ms: durationMs(test.stored_for),
  }
  const gaps = test.gap.map((period, index) => periodOf(period, start_ms, faults.at('gap', index)))
  return {
    name: test.name,
    start_ms,
    rules,
    gaps,
    measurements: new Measurements(times, bound),
    suppressions: readSuppressions(test, start_ms, faults),
    acts: readActs(test, context, faults),
    expectations: readExpectations(test, context, faults),
  }
}

type Context = {
  start_ms: number
  rules: ReadonlyMap<string, Rule>
  /** Labels of all series. */
  rows: readonly Group[]
  records: TestCase['events']
}

function timeOf({ start_ms }: Pick<Context, 'start_ms'>, text: string): number {
  return start_ms + durationMs(text)
}

function periodOf(
  { from, to }: { from: string; to: string },
  start_ms: number,
  faults: FaultSink,
): Period {
  const period = { from_ms: timeOf({ start_ms }, from), to_ms: timeOf({ start_ms }, to) }
  if (period.from_ms >= period.to_ms) faults.at('to').add(`got ${to}, expected more than ${from}`)
  return period
}

/** Converts the times of suppressions to instants, as the API has them. */
function readSuppressions(test: TestCase, start_ms: number, faults: FaultSink) {
  return test.suppressions.flatMap((one, index) => {
    const sink = faults.at('suppressions', index)
    const { windows, expires_at, ...rest } = one
    const instant = (ms: number) => new Date(ms).toISOString()
    const periods = windows.map((period, at) => periodOf(period, start_ms, sink.at('windows', at)))
    const read = parseWritten(suppressionBody, {
      ...rest,
      windows: periods.map(({ from_ms, to_ms }) => ({
        from: instant(from_ms),
        to: instant(to_ms),
      })),
      ...(expires_at !== undefined && { expires_at: instant(timeOf({ start_ms }, expires_at)) }),
      comment: 'test',
    })
    if ('data' in read) return [{ id: `suppression-${index + 1}`, body: read.data }]
    for (const { path, message } of read.faults) {
      // The faults of windows are about the converted times.
      if (path[0] !== 'windows') sink.at(...path).add(message)
    }
    return []
  })
}

function readActs(test: TestCase, context: Context, faults: FaultSink): Act[] {
  const acts: Act[] = []
  const order = { delete: 0, restart: 1, store: 2, move: 3 }
  for (const [index, { at, rule: name }] of test.delete_rules.entries()) {
    const rule = ruleOf(name, context, faults.at('delete_rules', index, 'rule'))
    if (rule !== undefined) acts.push({ type: 'delete', at_ms: timeOf(context, at), rule })
  }
  for (const at of test.restart) acts.push({ type: 'restart', at_ms: timeOf(context, at) })
  for (const record of test.events) {
    acts.push({ type: 'store', at_ms: timeOf(context, record.at), record })
  }
  for (const [index, move] of test.moves.entries()) {
    const sink = faults.at('moves', index)
    const rule = ruleOf(move.rule, context, sink.at('rule'))
    if (rule === undefined) continue
    checkGroup(rule, move.group, context, sink.at('group'))
    if (move.type === 'snooze' && move.for === undefined) {
      sink.at('for').add('a snooze needs its length, such as 2h')
    }
    acts.push({ type: 'move', at_ms: timeOf(context, move.at), move, rule, sink })
  }
  return acts.toSorted(
    (one, other) => one.at_ms - other.at_ms || order[one.type] - order[other.type],
  )
}

function readExpectations(
  test: TestCase,
  context: Context,
  faults: FaultSink,
): CompiledExpectation[] {
  return test.expect
    .flatMap((expected, index): CompiledExpectation[] => {
      const sink = faults.at('expect', index)
      const rule = ruleOf(expected.rule, context, sink.at('rule'))
      if (rule === undefined) return []
      const group = expected.group ?? {}
      // Only the count is about all groups.
      const isAboutGroup = Object.keys(expected).some(
        (key) => !['at', 'rule', 'count'].includes(key),
      )
      if (isAboutGroup) checkGroup(rule, group, context, sink.at('group'))
      checkChannels(expected, context, sink.at('notified'))
      return [{ at_ms: timeOf(context, expected.at), rule, group, expected, path: sink.path }]
    })
    .toSorted((one, other) => one.at_ms - other.at_ms)
}

function ruleOf(name: string, { rules }: Context, faults: FaultSink): Rule | undefined {
  const rule = rules.get(name)
  if (rule === undefined) {
    const known = [...rules.keys()].join(', ')
    faults.add(`got ${JSON.stringify(name)}, expected a rule of rule_files: ${known}`)
  }
  return rule
}

/** A group that no row has is a misspelt one: that it has no incident would prove nothing. */
function checkGroup(rule: Rule, group: Group, context: Context, faults: FaultSink): void {
  const got = `got ${JSON.stringify(group)}`
  const key = groupKey(group)
  if (
    Object.keys(group).length !== rule.group_by.length ||
    groupKey(groupOf(rule, group)) !== key
  ) {
    const expected = rule.group_by.length === 0 ? 'no dimensions' : rule.group_by.join(', ')
    faults.add(`${got}, expected the dimensions of ${rule.name}: ${expected}`)
  } else if (rule.group_by.length > 0 && !groupsIn(rule, context).has(key)) {
    faults.add(`${got}, expected the labels of a series or an event`)
  }
}

/** Returns the keys of the groups that series and records of a test have. */
function groupsIn(rule: Rule, { rows, records }: Context): Set<string> {
  const all = { ...rule, selector: {} }
  const groups = [
    ...rows.map((row) => groupOf(rule, row)),
    ...records.flatMap((record) => groupsOfRecord(all, record)),
  ]
  return new Set(groups.map(groupKey))
}

/** A channel that no rule names is never notified, so that its absence would prove nothing. */
function checkChannels(
  { notified = [] }: Expectation,
  { rules }: Context,
  faults: FaultSink,
): void {
  const known = new Set(
    [...rules.values()].flatMap(({ notify, escalation }) => [
      ...notify,
      ...escalation.flatMap((step) => step.notify),
    ]),
  )
  for (const [index, channel] of notified.entries()) {
    if (known.has(channel)) continue
    const message = `got ${JSON.stringify(channel)}, expected a channel of a rule: ${[...known].join(', ')}`
    faults.at(index).add(message)
  }
}
