import fc from 'fast-check'
import { v7 as uuidV7 } from 'uuid'
import { contextScore } from '../../../src/capabilities/conversations/context-health.ts'
import type { Finding } from '../../../src/capabilities/detection/index.ts'
import { type Rule, ruleShape } from '../../../src/capabilities/incidents/rules/rule.ts'
import { durationMs } from '../../../src/kernel/duration.ts'
import { newId } from '../../../src/kernel/ids.ts'
import { findingKinds } from '../../../src/model/finding-kind.ts'
import type { LedgerEntry } from '../../../src/model/ledger-entry.ts'
import type { Observation } from '../../../src/model/observation.ts'
import { scenarioEnvironment } from '../../../src/model/reserved-environment.ts'
import { observationOf } from '../observations.ts'
import { entryOf } from '../records.ts'
import type { NaiveRow } from './naive-signals.ts'

/** The newest slot of the data: a recent end of a minute. */
export const end_ms = Math.floor(Date.now() / 60_000) * 60_000 - 3 * 60_000

const idle_ms = 30 * 60_000

const minute_ms = 60_000
const day_ms = 86_400_000

/** Values that applications choose, some of them hostile. */
const values = fc.constantFrom(
  ...[
    '',
    'gpt-4o',
    'gpt_4o',
    'claude',
    'a%b',
    'back\\slash',
    "it's",
    '"x"',
    'line\nbreak',
    'tab\t',
  ],
  ...['ünï', '\u{1f600} smile', '*', '?', '\\', '%', '\\%', '--', '{p0:String}', 'NULL'],
  'long'.repeat(60),
)

const globs = fc.oneof(
  values.filter((value) => value !== ''),
  fc.constantFrom(
    ...['*', '?', '??', '????', 'gpt?4o', 'gpt-*', '*4o', '*%*', '*_*', '*\\*', "*'*", '*\n*'],
    ...['\\*', '\\?', '% *', '*ï', '? smile', '*long', 'a?b', '_', '{*}', '\\\\*', '[g]*', '.*'],
  ),
)

const globList = fc.option(fc.array(globs, { minLength: 1, maxLength: 3 }), { nil: undefined })

/** Only the exact name reads the seeded scenario, and no glob that it matches. */
const environmentGlobs = fc.oneof(
  { weight: 3, arbitrary: globList },
  {
    weight: 1,
    arbitrary: fc.constantFrom([scenarioEnvironment], ['loop*', scenarioEnvironment], ['loop*']),
  },
)

const selector = fc.record({
  model: globList,
  provider: fc.option(fc.constant(['*']), { nil: undefined }),
  environment: environmentGlobs,
  task_name: globList,
  release: fc.constant(undefined),
  tag: globList,
})

const groupBy = fc.subarray(['model', 'environment', 'task_name', 'tag'] as const, { maxLength: 3 })

const filters = fc.oneof(
  fc.record({ selector: fc.constant({}), group_by: fc.constant([]) }),
  fc.record({ selector: fc.constant({}), group_by: groupBy }),
  fc.record({ selector, group_by: groupBy }),
  fc.record({ selector: fc.record({ model: globList }), group_by: fc.constant([]) }),
)

const window = fc.constantFrom('1m', '90s', '10m', '1h', '6h', '3d')

const conditions = fc.oneof(
  fc.record({
    signal: fc.constantFrom(
      ...(['error_rate', 'failure_rate', 'loop_rate', 'latency_p95', 'ttft_p95'] as const),
      ...(['loop_count', 'failure_count', 'context_failure_count', 'context_health'] as const),
      ...(['trust_score', 'unsupported_claim_rate'] as const),
    ),
    window,
    threshold: fc.constant(0.5),
  }),
  fc.record({
    signal: fc.constantFrom('cost', 'tokens'),
    per: fc.option(fc.constantFrom('hour', 'task'), { nil: undefined }),
    window,
    threshold: fc.constant(0.5),
  }),
  fc.record({ signal: fc.constant('absent'), window }),
)

const tiers = fc.constantFrom(
  [{ factor: 2, long: '1h', short: '5m' }],
  [
    { factor: 8, long: '1h', short: '10m' },
    { factor: 1, long: '3d', short: '6h' },
  ],
)

const kinds = fc.oneof(
  { weight: 6, arbitrary: fc.record({ condition: conditions }) },
  {
    weight: 1,
    arbitrary: fc.record({
      burn_rate: fc.record({
        signal: fc.constantFrom(
          ...(['error_rate', 'failure_rate', 'loop_rate', 'unsupported_claim_rate'] as const),
        ),
        objective: fc.constant(0.9),
        tiers,
      }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      baseline: fc.record({
        signal: fc.constantFrom('error_rate', 'cost', 'loop_count', 'failure_rate'),
        max_ratio: fc.constant(2),
        floor: fc.constant(0),
      }),
    }),
  },
)

const ledgerRules = fc.record({
  condition: fc.record({
    signal: fc.constantFrom('ingest_rejected', 'ingest_lost'),
    window: fc.constantFrom('5m', '1h', '2h'),
    threshold: fc.constant(0),
  }),
})

/** Rules of all signals that are measured at slots. */
export const measuredRules: fc.Arbitrary<Rule> = fc
  .oneof(
    { weight: 12, arbitrary: fc.tuple(kinds, filters).map(([kind, by]) => ({ ...kind, ...by })) },
    { weight: 1, arbitrary: ledgerRules },
  )
  .chain((body) => fc.tuple(fc.constant(body), fc.constantFrom('1m', '1m', '0s', '20m')))
  .map(([body, delay]) => ruleShape.parse({ name: 'rule', severity: 'low', delay, ...body }))

/** An age before the newest slot: most rows are recent, some at the same hour of earlier days. */
const age = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: -2 * minute_ms, max: 20 * minute_ms }) },
  { weight: 3, arbitrary: fc.integer({ min: 0, max: 7 * 3_600_000 }) },
  {
    weight: 2,
    arbitrary: fc.tuple(fc.nat(29), fc.nat(3_600_000)).map(([d, ms]) => d * day_ms + ms),
  },
  { weight: 2, arbitrary: fc.constantFrom(0, minute_ms, 90_000, 600_000, 3_600_000) },
)

const dimensionValues = {
  model: values,
  provider: fc.constantFrom('openai', ''),
  environment: fc.oneof(
    { weight: 5, arbitrary: values },
    { weight: 1, arbitrary: fc.constant(scenarioEnvironment) },
  ),
  task_name: values,
  release: fc.constantFrom('v1', ''),
}

const tags = fc.uniqueArray(
  values.filter((one) => one !== '' && !one.includes('\t') && !one.includes('\n')),
  { maxLength: 3 },
)

/** Time from the end of a call until it was stored; negative by a clock that is ahead. */
const lateness = fc.oneof(
  { weight: 5, arbitrary: fc.integer({ min: 0, max: 30_000 }) },
  { weight: 2, arbitrary: fc.constantFrom(-20_000, 5 * minute_ms, 6 * minute_ms) },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      ...[6 * minute_ms + 1, 7 * minute_ms, 20 * minute_ms, 2 * 3_600_000],
      ...[day_ms, day_ms + 1, 3 * day_ms],
    ),
  },
)

/** Time in the queue, which the id of the message says; null for another id. */
const waited = fc.oneof(
  { weight: 3, arbitrary: fc.constant(null) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(0, 900, 61_000, 5 * minute_ms, 15 * minute_ms, 15 * minute_ms + 1),
  },
)

const calls = fc.record({
  age,
  type: fc.constantFrom('generation', 'generation', 'embedding', 'agent', 'tool'),
  status: fc.constantFrom('ok', 'ok', 'error', 'cancelled'),
  latency: fc.oneof(
    { weight: 4, arbitrary: fc.integer({ min: 0, max: 100_000 }) },
    { weight: 2, arbitrary: fc.constantFrom(20 * minute_ms, 60 * minute_ms) },
  ),
  lateness,
  waited,
  ttft: fc.option(fc.integer({ min: 0, max: 9_999 }), { nil: null }),
  cost: fc.option(fc.integer({ min: 0, max: 5_000 }), { nil: null }),
  tokens: fc.option(fc.nat(9_999), { nil: null }),
  task_id: fc.constantFrom('', 'a', 'b', 'c', 'd'),
  tags,
  ...dimensionValues,
  /** Sent before with other values; this version is the later one. */
  is_sent_again: fc.boolean(),
  /** Time between both, if it was sent before. */
  sent_before: fc.constantFrom(1, 1_000, 30 * minute_ms),
})

const findings = fc.record({
  kind: fc.constantFrom(...findingKinds),
  type: fc.constantFrom('lost_context', 'context_overflow', 'repeat_call'),
  severity: fc.constantFrom('info', 'low', 'high', 'critical'),
  state: fc.constantFrom('open', 'recovered', 'withdrawn'),
  confidence: fc.constantFrom(0.5, 0.9, 1),
  fill: fc.constantFrom(0.7, 0.9, 1.5),
  age,
})

const verifications = fc.record({
  age,
  /** Null without a claim that a verifier decided. */
  trust: fc.option(fc.constantFrom(0, 0.25, 0.5, 1), { nil: null }),
  supported: fc.nat(3),
  contradicted: fc.nat(2),
  not_found: fc.nat(2),
  unverifiable: fc.nat(2),
  state: fc.constantFrom('verified', 'verified', 'failed', 'cancelled'),
  /** A newer run verified the same answer again. */
  is_superseded: fc.boolean(),
  has_task: fc.boolean(),
})

const tasks = fc.record({
  age,
  ended: fc.boolean(),
  state: fc.constantFrom('completed', 'failed'),
  calls: fc.integer({ min: 0, max: 4 }),
  models: fc.uniqueArray(values, { maxLength: 2 }),
  ...dimensionValues,
  findings: fc.array(findings, { maxLength: 3 }),
  verifications: fc.array(verifications, { maxLength: 2 }),
})

const entries = fc.record({ age, rejected: fc.nat(5), lost: fc.nat(3) })

/** Rows of a project. */
export const signalData = fc.record({
  calls: fc.array(calls, { maxLength: 120, minLength: 20, size: 'max' }),
  tasks: fc.array(tasks, { maxLength: 40, minLength: 5, size: 'max' }),
  entries: fc.array(entries, { maxLength: 8 }),
})
export type SignalData = typeof signalData extends fc.Arbitrary<infer Data> ? Data : never

/** An observation with the time at which it was stored. */
export type StoredObservation = Observation & { stored_ms: number }

type CallData = SignalData['calls'][number]

const endOf = ({ age: age_ms }: CallData) => end_ms - age_ms
const storedAt = (call: CallData) => endOf(call) + call.lateness

function messageOf({ waited: waited_ms }: CallData, stored_ms: number, name: string): string {
  return waited_ms === null ? name : uuidV7({ msecs: stored_ms - waited_ms })
}

/** The observations of the data, in two batches: the second replaces rows of the first. */
export function observationsOf(project_id: string, { calls }: SignalData): StoredObservation[][] {
  const latest = calls.map((call, at): StoredObservation => {
    const end_time = BigInt(endOf(call)) * 1_000_000n + BigInt(at)
    const observation = observationOf({
      project_id,
      start_time: end_time - BigInt(call.latency) * 1_000_000n,
      end_time,
      observation_id: `o${at}`,
      type: call.type,
      status: call.status,
      provider: call.provider,
      model: at % 2 === 0 ? call.model : '',
      model_requested: call.model,
      environment: call.environment,
      task_name: call.task_name,
      release: call.release,
      task_id: call.task_id,
      cost_usd: call.cost === null ? null : String(call.cost / 1_000),
      input_uncached_tokens: call.tokens,
      cache_read_tokens: call.tokens === null ? null : 1,
      output_visible_tokens: 7,
      reasoning_tokens: null,
      cache_write_tokens: 0,
      time_to_first_token_ms: call.ttft,
      ...tagsOf(call.tags, at),
      message_id: messageOf(call, storedAt(call), 'm2'),
    })
    return { ...observation, stored_ms: storedAt(call) }
  })
  const earlier = calls.flatMap((call, at) => {
    const [one] = latest.slice(at, at + 1)
    if (!call.is_sent_again || one === undefined) return []
    const stored_ms = one.stored_ms - call.sent_before
    return {
      ...{ ...one, stored_ms, message_id: messageOf(call, stored_ms, 'm1') },
      ...{ status: 'error' as const, cost_usd: '77', environment: 'earlier' },
      ...{ type: 'generation' as const, model: 'earlier' },
    }
  })
  return [earlier, latest]
}

/**
 * When a call counts: at its end, or when it became known if the slot of its end was no longer
 * repeated then. A slot waits for a message that is in the queue, for a quarter of an hour at most.
 */
function countedMs(call: CallData, rule: Rule): number {
  const ended_ms = endOf(call)
  const wait_ms = call.waited === null || call.waited > 15 * minute_ms ? 0 : call.waited
  const timing = readsSums(rule) ? { interval: '1m', delay: '1m' } : rule
  const repeated_ms = 5 * durationMs(timing.interval)
  const knownAt = (stored_ms: number) => {
    return stored_ms - ended_ms <= repeated_ms ? stored_ms : stored_ms - wait_ms
  }
  const known_ms = knownAt(storedAt(call))
  const first_ms = call.is_sent_again
    ? Math.min(known_ms, knownAt(storedAt(call) - call.sent_before))
    : known_ms
  const covered_ms = repeated_ms + Math.max(0, durationMs(timing.delay) - wait_ms)
  const isLate = (at_ms: number) => at_ms - ended_ms > covered_ms && at_ms - ended_ms <= day_ms
  const counted_ms = isLate(known_ms) || isLate(first_ms) ? first_ms : known_ms
  return counted_ms < ended_ms || isLate(counted_ms) ? counted_ms : ended_ms
}

/** Windows above an hour, and those of burn rates and baselines, are read from sums of minutes. */
function readsSums({ condition }: Rule): boolean {
  if (condition === undefined) return true
  return 'window' in condition && durationMs(condition.window) > 3_600_000
}

/** Tags as frameworks write them: a JSON array in metadata or attributes. */
function tagsOf(list: readonly string[], at: number): Partial<Observation> {
  if (list.length === 0) return {}
  if (at % 3 === 0) return { attributes: { 'tag.tags': JSON.stringify(list) } }
  return { metadata: { tags: JSON.stringify(list) } }
}

type Rows = Record<string, unknown>[]
type Stored = { tasks: Rows; findings: Rows; runs: Rows }

/** The rows of the tables `tasks`, `findings` and `verification_runs`. */
export function taskRowsOf(project_id: string, data: SignalData): Stored {
  const iso = (at_ms: number) => new Date(at_ms).toISOString()
  const findings: Rows = []
  const tasks = data.tasks.map((task, at) => {
    const at_ms = end_ms - task.age
    const active_ms = task.ended ? at_ms - 1_000 : at_ms - idle_ms
    for (const one of task.findings) {
      const found = iso(end_ms - one.age)
      findings.push({
        ...{ finding_id: newId(), project_id, task_id: `t${at}`, kind: one.kind, type: one.type },
        ...{ detector: 'd', detector_version: 1, severity: one.severity, state: one.state },
        ...{ summary: 's', places: '[]', trace_ids: [], wasted_tokens: 0, wasted_cost_usd: '0' },
        ...{ recovered: one.state === 'recovered', confidence: one.confidence, updated_at: found },
        ...{ evidence: JSON.stringify({ fill: one.fill }), started_at: found },
        first_detected_at: found,
      })
    }
    return {
      ...{ project_id, task_id: `t${at}`, name: task.task_name, implicit: false },
      ...{ state: task.ended ? task.state : 'running', ended_at: task.ended ? iso(at_ms) : null },
      // The oldest row is the end of a task here, so that one instant decides `is_filled`.
      ...{ started_at: iso(at_ms), last_activity_at: iso(active_ms), calls: task.calls },
      ...{ models: task.models, providers: task.provider === '' ? [] : [task.provider] },
      environment: task.environment === '' ? null : task.environment,
      release: task.release === '' ? null : task.release,
    }
  })
  const runs = data.tasks.flatMap(({ verifications: some, environment }, at) =>
    some.flatMap((run) => {
      const task_id = run.has_task ? `t${at}` : null
      return runRows(run, { project_id, task_id, environment })
    }),
  )
  return { tasks, findings, runs }
}

type RunData = SignalData['tasks'][number]['verifications'][number]

function runRows(
  { age: age_ms, trust: trust_score, state, is_superseded, ...claims }: RunData,
  { environment, ...key }: { project_id: string; task_id: string | null; environment: string },
): Rows {
  const { supported, contradicted, not_found, unverifiable } = claims
  const at = new Date(end_ms - age_ms).toISOString()
  const row = {
    ...{ ...key, trace_id: newId(), trace_start: at, trigger: 'request', requested_by: 'user:a' },
    ...{ environment: environment === '' ? null : environment, verifiers: '[]', created_at: at },
    ...{ state, ended_at: at, trust_score },
    counts: JSON.stringify({ supported, contradicted, not_found, unverifiable, skipped: 1 }),
  }
  if (!is_superseded) return [{ id: newId(), ...row }]
  const newer = { state: 'verified', ended_at: new Date(end_ms + 3_600_000).toISOString() }
  return [
    { id: newId(), ...row },
    { id: newId(), ...row, ...newer },
  ]
}

export function entriesOf(project_id: string, data: SignalData): LedgerEntry[] {
  return data.entries.map(({ age: age_ms, rejected, lost }, at) =>
    entryOf({
      ...{ project_id, message_id: `l${at}`, side: 'settled', received_at_ms: end_ms - age_ms },
      ...{ items: 10, stored: 10 - rejected - lost, rejected: { r: rejected }, lost: { l: lost } },
    }),
  )
}

/** The same data as the naive computation reads it. */
export function naiveRowsOf(data: SignalData): NaiveRow[] {
  const iterable = [...data.calls.map(callRow), ...data.tasks.flatMap(taskRows)]
  const none = {
    model: [''],
    provider: [''],
    environment: [''],
    task_name: [''],
    release: [''],
    tag: [''],
  }
  const ledger = data.entries.map(
    ({ age: age_ms, rejected, lost }): NaiveRow => ({
      ...{ source: 'ledger', at_ms: end_ms - age_ms, dimensions: none },
      ...{ items: 10, rejected, lost },
    }),
  )
  return [...iterable, ...ledger]
}

function callRow(call: SignalData['calls'][number]): NaiveRow {
  const isCall = call.type === 'generation' || call.type === 'embedding'
  return {
    source: isCall ? 'call' : 'other',
    at_ms: endOf(call),
    counted_ms: (rule) => countedMs(call, rule),
    start_ms: endOf(call) - call.latency,
    dimensions: {
      ...{ model: [call.model], provider: [call.provider], environment: [call.environment] },
      ...{ task_name: [call.task_name], release: [call.release] },
      tag: call.tags.length === 0 ? [''] : call.tags,
    },
    latency: call.latency,
    ttft: call.ttft,
    cost: (call.cost ?? 0) / 1_000,
    tokens: (call.tokens === null ? 0 : call.tokens + 1) + 7,
    task_id: call.task_id,
    marks: call.status === 'error' ? ['error_rate'] : [],
  }
}

function taskRows(task: SignalData['tasks'][number]): NaiveRow[] {
  const dimensions: NaiveRow['dimensions'] = {
    ...{ model: task.models.length === 0 ? [''] : task.models, provider: [task.provider] },
    ...{ environment: [task.environment], task_name: [task.task_name], release: [task.release] },
    tag: [''],
  }
  const live = task.findings.filter(({ state }) => state !== 'withdrawn')
  const bad = live.filter(({ severity }) => severity !== 'info')
  const isFailed =
    (task.ended && task.state === 'failed') ||
    bad.some(({ kind, state }) => kind === 'failure' && state === 'open')
  const hasLoop = bad.some(({ kind }) => kind === 'loop')
  const context = live
    .filter(({ kind }) => kind === 'context')
    .map(({ fill, ...one }) => ({ ...one, evidence: { fill } }) as unknown as Finding)
  const found = live.map(
    (one): NaiveRow => ({
      ...{ source: 'finding', at_ms: end_ms - one.age, dimensions, marks: [one.kind] },
    }),
  )
  const verified = task.verifications.flatMap((run) => verificationRows(run, dimensions))
  return [
    ...verified,
    {
      ...{ source: 'task', at_ms: end_ms - task.age, dimensions },
      marks: [...(isFailed ? ['failure_rate'] : []), ...(hasLoop ? ['loop_rate'] : [])],
      health: contextScore(context, task.calls).score,
    },
    ...found,
  ]
}

/** A run without a task has only an environment. */
function verificationRows(run: RunData, ofTask: NaiveRow['dimensions']): NaiveRow[] {
  const { age: age_ms, trust, supported, contradicted, not_found } = run
  if (run.is_superseded || run.state !== 'verified') return []
  const other = { model: [''], provider: [''], task_name: [''], release: [''] }
  const dimensions = run.has_task ? ofTask : { ...ofTask, ...other }
  const wrong = contradicted + not_found
  const claims = { decided: supported + wrong, wrong }
  return [{ source: 'verification', at_ms: end_ms - age_ms, dimensions, trust, ...claims }]
}
