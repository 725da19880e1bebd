import type { Move } from '../../capabilities/incidents/life-cycle/index.ts'
import { durationMs } from '../../kernel/duration.ts'
import type { Act, CompiledExpectation, CompiledTest } from './compile-test.ts'
import { Simulation } from './simulation.ts'
import type { TestCase } from './test-file.ts'
import { formatEntry, formatGroup, formatTime, type TimelineEntry } from './timeline.ts'

/** The result of a test. Failures and the timeline are texts for people. */
export type TestResult = {
  name: string
  failures: readonly TestFailure[]
  timeline: readonly string[]
}

/** An expectation that is not met, with its place in the file. */
type TestFailure = {
  path: CompiledExpectation['path']
  title: string
  differences: string[]
}

/** Maximum evaluations of a test: five weeks, one a minute, with room for shorter ones. */
export const evaluations_max = 100_000

/** Runs a test: evaluates each `interval` and whenever something happens, up to the last expectation. */
export function runTest(test: CompiledTest, interval: string): TestResult {
  const { rules, measurements, suppressions, start_ms } = test
  const simulation = new Simulation(rules, measurements, suppressions)
  const interval_ms = durationMs(interval)
  const end_ms = Math.max(...test.expectations.map(({ at_ms }) => at_ms))
  const own = [...test.acts, ...test.expectations].map(({ at_ms }) => at_ms)
  const times = new Set(own.filter((at_ms) => at_ms <= end_ms))
  for (let at_ms = start_ms; at_ms <= end_ms; at_ms += interval_ms) times.add(at_ms)
  const failures: TestFailure[] = []
  const seen = new Map<string, number>()
  for (const now_ms of [...times].toSorted((one, other) => one - other)) {
    const isEvaluated = (now_ms - start_ms) % interval_ms === 0
    const isGap = test.gaps.some(({ from_ms, to_ms }) => now_ms >= from_ms && now_ms < to_ms)
    failures.push(...act(simulation, test, { now_ms, isEvaluated: isEvaluated && !isGap, isGap }))
    for (const one of test.expectations.filter(({ at_ms }) => at_ms === now_ms)) {
      failures.push(...check(simulation, one, { seen, start_ms }))
    }
  }
  return {
    name: test.name,
    failures,
    timeline: simulation.timeline.map((entry) => formatEntry(entry, start_ms)),
  }
}

type Now = { now_ms: number; isEvaluated: boolean; isGap: boolean }

/** Does what happens at a time: moves of people come last. */
function act(simulation: Simulation, test: CompiledTest, now: Now): TestFailure[] {
  const { now_ms, isEvaluated, isGap } = now
  const acts = test.acts.filter(({ at_ms }) => at_ms === now_ms)
  for (const one of acts) {
    if (one.type === 'delete') simulation.deleteRule(one.rule.name, now_ms)
    if (one.type === 'restart') simulation.restart(now_ms)
    if (one.type === 'store') simulation.store(one.record, now_ms)
  }
  if (isEvaluated) simulation.evaluate(now_ms)
  if (!isGap) simulation.applyClock(now_ms)
  return acts.flatMap((one) => (one.type === 'move' ? move(simulation, one, test.start_ms) : []))
}

function move(
  simulation: Simulation,
  { move, rule, at_ms, sink }: Extract<Act, { type: 'move' }>,
  start_ms: number,
): TestFailure[] {
  const { type, group } = move
  const refusal = simulation.move(rule, group, toMove(move, at_ms))
  if (refusal === undefined) return []
  const title = `${formatTime(at_ms - start_ms)} ${rule.name}${formatGroup(group)}: ${type}`
  return [{ path: sink.path, title, differences: [refusal] }]
}

function toMove({ type, for: length }: TestCase['moves'][number], at_ms: number): Move {
  switch (type) {
    case 'suppress':
      return { type, suppressed: true, at_ms }
    case 'snooze': {
      const until_ms = at_ms + durationMs(length ?? '')
      return { type: 'suppress', suppressed: true, until_ms, at_ms }
    }
    case 'unsuppress':
    case 'unsnooze':
      return { type: 'suppress', suppressed: false, at_ms }
    case 'reopen':
      return { type, at_ms, has_newer: false, quiet: [] }
    default:
      return { type, at_ms }
  }
}

type Progress = { seen: Map<string, number>; start_ms: number }

/** Compares an expectation with the simulation. */
function check(
  simulation: Simulation,
  expectation: CompiledExpectation,
  { seen, start_ms }: Progress,
): TestFailure[] {
  const { rule, group, expected, path, at_ms } = expectation
  const actual = actualOf(simulation, expectation, seen)
  const differences = Object.entries(actual).flatMap(([field, value]) => {
    const wanted = (expected as Readonly<Record<string, unknown>>)[field]
    if (wanted === undefined || textOf(wanted) === textOf(value)) return []
    return [`${field}: expected ${textOf(wanted)}, got ${textOf(value)}`]
  })
  if (differences.length === 0) return []
  const title = `${formatTime(at_ms - start_ms)} ${rule.name}${formatGroup(group)}`
  return [{ path, title, differences }]
}

function textOf(value: unknown): string {
  return Array.isArray(value) ? `[${value.join(', ')}]` : String(value)
}

/** Returns the actual values of all fields of an expectation. */
function actualOf(
  simulation: Simulation,
  { rule, group, expected }: CompiledExpectation,
  seen: Map<string, number>,
) {
  const newest = simulation.newestOf(rule, group)
  const incident = newest?.incident
  const entries = entriesOf(simulation, newest?.incident.dedup_key)
  const key = incident?.dedup_key ?? ''
  const notices = entries.slice(seen.get(key) ?? 0).flatMap((entry) => entry.notices ?? [])
  const isAboutMessages = expected.notified !== undefined || expected.messages !== undefined
  if (isAboutMessages) seen.set(key, entries.length)
  const notified = [...new Set(notices.flatMap(({ channels }) => channels))].toSorted()
  const openings = entries.filter(({ text }) => ['opened', 'reopened', 'flapping'].includes(text))
  return {
    state: incident?.state ?? 'none',
    pending: simulation.isPending(rule, group),
    severity: incident?.severity ?? 'none',
    notified: inOrderOf(notified, expected.notified),
    messages: notices.map(({ reason }) => reason),
    count: simulation.countUnresolved(rule),
    openings: openings.length,
    flapping: incident?.flapping ?? false,
    late: incident?.late ?? false,
    muted:
      incident !== undefined && incident.suppressed_by.length + incident.inhibited_by.length > 0,
    orphaned: incident?.orphaned ?? false,
  }
}

function entriesOf({ timeline }: Simulation, dedup_key: string | undefined): TimelineEntry[] {
  return timeline.filter((entry) => entry.dedup_key !== undefined && entry.dedup_key === dedup_key)
}

/** Channels are a set: they are listed in the expected order. */
function inOrderOf(actual: readonly string[], expected: readonly string[] = []): string[] {
  const known = [...new Set(expected)].filter((one) => actual.includes(one))
  return [...known, ...actual.filter((one) => !known.includes(one))]
}
