import { v7 as uuidV7 } from 'uuid'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type {
  GroupState,
  Transition,
} from '../../src/capabilities/incidents/evaluation/contract.ts'
import { step } from '../../src/capabilities/incidents/evaluation/step.ts'
import { type Rule, ruleShape } from '../../src/capabilities/incidents/rules/rule.ts'
import {
  refreshDefaults,
  refreshMinutes,
} from '../../src/capabilities/incidents/signals/minutes.ts'
import { openSignals } from '../../src/capabilities/incidents/signals/open-signals.ts'
import { newId } from '../../src/kernel/ids.ts'
import { mergeParts, setMerges } from '../support/clickhouse.ts'
import { insertStored } from '../support/incidents/insert-stored.ts'
import { end_ms, type StoredObservation } from '../support/incidents/signal-data.ts'
import { openSignalStores, type SignalStores } from '../support/incidents/signal-stores.ts'
import { observationOf } from '../support/observations.ts'

const second_ms = 1_000
const minute_ms = 60_000
const hour_ms = 60 * minute_ms

let stores: SignalStores
beforeAll(async () => {
  stores = await openSignalStores()
})
afterAll(() => stores?.close())

const ruleOf = (body: object) => ruleShape.parse({ name: 'rule', severity: 'low', ...body })

type Call = Partial<StoredObservation> & { ended_ms: number; length_ms: number }

/** A call that is stored a second after its end. */
function callOf(project_id: string, { ended_ms, length_ms, ...more }: Call): StoredObservation {
  const end_time = BigInt(ended_ms) * 1_000_000n
  const times = { start_time: end_time - BigInt(length_ms) * 1_000_000n, end_time }
  const row = observationOf({ project_id, observation_id: 'one', ...times, ...more })
  return { ...row, stored_ms: more.stored_ms ?? ended_ms + second_ms }
}

const insert = (...rows: StoredObservation[]) => insertStored(stores.columnar, rows)

/** The ends of the slots, of all in a range, at which windows of a minute have calls; with their number. */
async function slotsWithCalls(project_id: string, from_ms: number, rule = tokens) {
  const first_ms = Math.ceil(from_ms / minute_ms) * minute_ms
  const slots = Array.from({ length: (end_ms - first_ms) / minute_ms + 1 }, (_, at) => ({
    ...{ rule_id: 'r', rule, end_ms: first_ms + at * minute_ms },
  }))
  const measured = await stores.signals.measure({ project_id, slots, lag_ms: 0 })
  return measured.flatMap((one) => {
    if ('error' in one) throw new Error(one.error)
    return one.groups.map(({ sample }) => [
      (one.end_ms - end_ms) / minute_ms,
      sample.kind === 'condition' ? sample.samples : Number.NaN,
    ])
  })
}

const tokens = ruleOf({ condition: { signal: 'tokens', window: '1m', threshold: 1 } })

/** Evaluates a rule without groups at each slot, as live, late slots left out. */
async function transitionsOf(project_id: string, rule: Rule, from_ms: number) {
  const ends = Array.from({ length: (end_ms - from_ms) / minute_ms }, (_, at) => {
    return from_ms + (at + 1) * minute_ms
  })
  const slots = ends.map((one_ms) => ({ rule_id: 'r', rule, end_ms: one_ms }))
  const measured = await stores.signals.measure({ project_id, slots, lag_ms: 0 })
  let state: GroupState | null = null
  const transitions: Transition[] = []
  for (const one of measured) {
    if ('error' in one) throw new Error(one.error)
    const sample = one.groups[0]?.sample ?? one.empty
    const slot = { end_ms: one.end_ms, pass: 'first', is_last_attempt: false } as const
    const times = { has_open_incident: false, forget_after_ms: 24 * hour_ms }
    const result = step(rule, state, sample, { ...slot, ...times })
    state = result.state
    transitions.push(...result.transitions)
  }
  return transitions.map(({ type, slot_ms }) => [type, (slot_ms - end_ms) / minute_ms])
}

describe('a call of 20 minutes', () => {
  const project_id = newId()
  const ended_ms = end_ms - 10 * minute_ms - 1
  beforeAll(() => {
    const length_ms = 20 * minute_ms
    return insert(callOf(project_id, { ended_ms, length_ms, status: 'error', cost_usd: '9' }))
  })

  test.each([
    ['cost', { signal: 'cost', window: '5m', threshold: 1 }],
    ['errors', { signal: 'error_rate', window: '5m', threshold: 0.5 }],
    ['latency', { signal: 'latency_p95', window: '5m', threshold: 600_000 }],
  ])('fires a rule of %s in the slot of its end', async (_, condition) => {
    expect(await transitionsOf(project_id, ruleOf({ condition }), end_ms - hour_ms)).toEqual([
      ['fired', -10],
      ['ended', -5],
    ])
  })

  test('counts once', async () => {
    expect(await slotsWithCalls(project_id, end_ms - hour_ms)).toEqual([[-10, 1]])
  })

  test('is an example of the incident that it opens', async () => {
    const rule = ruleOf({ condition: { signal: 'latency_p95', window: '5m', threshold: 1 } })
    const asked = { project_id, rule, group: {}, at_ms: end_ms - 10 * minute_ms }
    expect(await stores.signals.examples(asked)).toMatchObject([
      { value: 1_200_000, at: new Date(ended_ms).toISOString() },
    ])
  })

  test('counts in past slots as it did live', async () => {
    const range = { from_ms: end_ms - 11 * minute_ms, to_ms: end_ms }
    const { slots } = await stores.signals.measureRange({ project_id, rule: tokens, ...range })
    const found: number[] = []
    for await (const one of slots) {
      if (one.groups.length > 0) found.push((one.end_ms - end_ms) / minute_ms)
    }
    expect(found).toEqual([-10])
  })
})

test('a call of 26 hours counts once, at its end', async () => {
  const project_id = newId()
  const ended_ms = end_ms - 30 * second_ms
  await insert(callOf(project_id, { ended_ms, length_ms: 26 * hour_ms }))
  expect(await slotsWithCalls(project_id, end_ms - hour_ms)).toEqual([[0, 1]])
})

describe('a call that becomes known late', () => {
  const ended_ms = end_ms - 40 * minute_ms - 1
  const known = async (stored_ms: number, more: Partial<StoredObservation> = {}, rule = tokens) => {
    const project_id = newId()
    await insert(callOf(project_id, { ended_ms, length_ms: second_ms, stored_ms, ...more }))
    return slotsWithCalls(project_id, end_ms - hour_ms, rule)
  }
  const quick = ruleOf({ ...tokens, interval: '10s', delay: '0s' })

  test('counts at its end while the slot of its end is repeated', async () => {
    expect(await known(ended_ms + 6 * minute_ms)).toEqual([[-40, 1]])
    expect(await known(ended_ms + 50 * second_ms, {}, quick)).toEqual([[-40, 1]])
  })

  test('counts once, when it becomes known, after that', async () => {
    expect(await known(ended_ms + 6 * minute_ms + 1)).toEqual([[-33, 1]])
    expect(await known(ended_ms + 5 * minute_ms, {}, quick)).toEqual([[-35, 1]])
    expect(await known(ended_ms + 30 * minute_ms)).toEqual([[-10, 1]])
  })

  test('counts at its end if it waited in the queue, where its slot waits for it', async () => {
    const accepted = (msecs: number) => ({ message_id: uuidV7({ msecs }) })
    const stored_ms = ended_ms + 15 * minute_ms
    expect(await known(stored_ms, accepted(ended_ms))).toEqual([[-40, 1]])
    expect(await known(stored_ms + 1, accepted(ended_ms))).toEqual([[-24, 1]])
    expect(await known(stored_ms, accepted(ended_ms + 10 * minute_ms))).toEqual([[-30, 1]])
  })

  test('by more than a day is history', async () => {
    expect(await known(ended_ms + 24 * hour_ms + 1)).toEqual([[-40, 1]])
  })

  test('and is sent again counts once, when it was known first', async () => {
    const project_id = newId()
    const call = { ended_ms, length_ms: second_ms }
    await insert(callOf(project_id, { ...call, stored_ms: ended_ms + 10 * minute_ms }))
    await insert(callOf(project_id, { ...call, stored_ms: ended_ms + 20 * minute_ms }))
    await insert(callOf(project_id, { ...call, observation_id: 'in time' }))
    await insert(
      callOf(project_id, { ...call, observation_id: 'in time', stored_ms: end_ms - minute_ms }),
    )
    expect(await slotsWithCalls(project_id, end_ms - hour_ms)).toEqual([
      [-40, 1],
      [-30, 1],
    ])
  })
})

test('a call with an end in the future counts when it becomes known', async () => {
  const project_id = newId()
  const call = { ended_ms: end_ms + 9 * minute_ms, length_ms: second_ms }
  await insert(callOf(project_id, { ...call, stored_ms: end_ms - 1 }))
  expect(await slotsWithCalls(project_id, end_ms - hour_ms)).toEqual([[0, 1]])
})

describe('the sums of minutes', () => {
  // A row that is stored minutes after its end counts when it is stored, so the end is of now.
  const recent_ms = Math.floor(Date.now() / minute_ms) * minute_ms - 3 * minute_ms
  const refresh = (project_id: string) => {
    const settings = { ...refreshDefaults, signal: new AbortController().signal }
    return refreshMinutes(stores.columnar, project_id, settings)
  }
  const rule = ruleOf({
    burn_rate: {
      ...{ signal: 'error_rate', objective: 0.9 },
      tiers: [{ factor: 2, long: '1h', short: '5m' }],
    },
  })
  const slots = [-20, -1].map((minutes) => ({
    ...{ rule_id: 'r', rule, end_ms: recent_ms + minutes * minute_ms },
  }))
  const totals = async (project_id: string) => {
    const measured = await openSignals(stores.options).measure({ project_id, slots, lag_ms: 0 })
    return measured.map((one) => {
      const sample = 'error' in one ? undefined : (one.groups[0]?.sample ?? one.empty)
      return sample?.kind === 'burn_rate' ? sample.tiers[0]?.short.total : undefined
    })
  }
  /** Stores the call with a start and an end, in minutes. */
  const send = (project_id: string, [start, end]: [number, number], stored_ms = Date.now()) => {
    const at = (minutes: number) => BigInt(recent_ms + minutes * minute_ms - 1) * 1_000_000n
    const times = { start_time: at(start), end_time: at(end) }
    const row = observationOf({ project_id, observation_id: 'one', ...times })
    return insert({ ...row, message_id: newId(), stored_ms })
  }

  test('follow a call that is sent again with another end', async () => {
    const project_id = newId()
    await insert(callOf(project_id, { ended_ms: recent_ms - 300 * minute_ms, length_ms: 1 }))
    await send(project_id, [-30, -20], recent_ms - 20 * minute_ms)
    // The sums are complete up to five minutes ago. Each call has the minutes of its start and end.
    expect(await refresh(project_id)).toBe(4)
    expect(await totals(project_id)).toEqual([1, 0])
    await send(project_id, [-30, -1])
    await refresh(project_id)
    expect(await totals(project_id)).toEqual([0, 1])
  })

  test('follow a call that was sent when it began, also after its versions were merged', async () => {
    const project_id = newId()
    await insert(callOf(project_id, { ended_ms: recent_ms - 300 * minute_ms, length_ms: 1 }))
    await send(project_id, [-20, -20], recent_ms - 20 * minute_ms)
    await refresh(project_id)
    expect(await totals(project_id)).toEqual([1, 0])
    await send(project_id, [-20, -1])
    await setMerges(stores.columnar, 'observations', 'START')
    await mergeParts(stores.columnar, 'observations')
    await setMerges(stores.columnar, 'observations', 'STOP')
    await refresh(project_id)
    expect(await totals(project_id)).toEqual([0, 1])
  })
})
