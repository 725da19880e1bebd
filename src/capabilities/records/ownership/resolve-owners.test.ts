import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fuzzRuns } from '../../../../test/support/suite/budget.ts'
import { knownOf, type OwnedRow, type Owner, ownerBits, resolveOwners } from './index.ts'

const trace = '0192f0c1-0000-7000-8000-000000000001'

function row(id: string, parent: string, said: Partial<Owner> = {}): OwnedRow {
  return {
    ...{ trace_id: trace, observation_id: id, parent_observation_id: parent, start_time: 1n },
    ...{ task_id: said.task_id ?? trace, task_implicit: said.task_id === undefined },
    ...{ task_name: '', conversation_id: '', conversation_external_id: '' },
    ...{ user_id: '', release: '' },
    ...said,
  }
}

/** The rows with the owners that a resolution of them all finds. */
function resolved(rows: readonly OwnedRow[]): OwnedRow[] {
  const owners = new Map(resolveOwners(rows).changes.map(({ row, owner }) => [row, owner]))
  return rows.map((one) => ({ ...one, ...owners.get(one) }))
}

/** The naive model: walks up for each field. */
function ownerByWalking(rows: readonly OwnedRow[], one: OwnedRow): Owner {
  const ancestors: OwnedRow[] = []
  let at: OwnedRow | undefined = one
  while (at !== undefined && !ancestors.includes(at)) {
    ancestors.push(at)
    const id: string = at.parent_observation_id
    at = rows.find(({ observation_id }) => observation_id === id)
  }
  // A row of a cycle knows what it says; the walk from below ends at the first row of the cycle.
  const back = at === undefined ? ancestors.length : ancestors.indexOf(at)
  const line = ancestors.slice(0, back + 1)
  const nearest = (has: (owner: Owner) => boolean) => line.find(has) ?? one
  const task = nearest(({ task_implicit }) => !task_implicit)
  const talk = nearest(({ conversation_id }) => conversation_id !== '')
  return {
    task_id: task.task_id,
    task_implicit: task.task_implicit,
    task_name: nameByWalking(line, task),
    conversation_id: talk.conversation_id,
    conversation_external_id: talk.conversation_external_id,
    user_id: nearest(({ user_id }) => user_id !== '').user_id,
    release: nearest((owner) => owner.release !== '').release,
  }
}

/** The first name on the way up, as long as the ancestors belong to the same task. */
function nameByWalking(line: readonly OwnedRow[], task: Owner): string {
  for (const [at, { task_name }] of line.entries()) {
    const above = line.slice(at).find(({ task_implicit }) => !task_implicit)
    if ((above?.task_id ?? trace) !== task.task_id) return ''
    if (task_name !== '') return task_name
  }
  return ''
}

describe('a row', () => {
  test('keeps what it says and has the rest from its nearest ancestor', () => {
    const rows = [
      row('root', '', { task_id: 'T', task_name: 'plan', user_id: 'ann', release: '1' }),
      row('step', 'root', { user_id: 'bob' }),
      row('call', 'step', { conversation_id: 'c', conversation_external_id: 'C' }),
    ]
    expect(resolved(rows)[2]).toMatchObject({
      ...{ task_id: 'T', task_name: 'plan', task_implicit: false, release: '1' },
      ...{ user_id: 'bob', conversation_id: 'c', conversation_external_id: 'C' },
    })
  })

  test('has nothing from siblings, descendants or strangers', () => {
    const rows = [
      row('root', ''),
      row('a', 'root', { task_id: 'T', user_id: 'ann', conversation_id: 'c' }),
      row('b', 'root'),
      row('c', 'missing'),
      row('other root', '', { user_id: 'eve', release: '2' }),
    ]
    expect(resolveOwners(rows).changes).toEqual([])
  })

  test("of another task does not get the name of its ancestor's task", () => {
    const rows = [
      row('root', '', { task_id: 'T', task_name: 'plan' }),
      row('a', 'root', { task_id: 'U' }),
    ]
    expect(resolved(rows)[1]).toMatchObject({ task_id: 'U', task_name: '' })
  })

  test('keeps the name that it gave itself', () => {
    const rows = [
      row('root', '', { task_id: 'T', task_name: 'plan' }),
      row('a', 'root', { task_name: 'own' }),
    ]
    expect(resolved(rows)[1]).toMatchObject({ task_id: 'T', task_name: 'own' })
  })
})

test('what a trace gives and what it waits for', () => {
  const user = row('root', '', { user_id: 'ann' })
  expect(resolveOwners([user, row('a', 'root')])).toMatchObject({ gives: ownerBits.user, wants: 0 })
  const waiting = resolveOwners([user, row('b', 'missing', { task_id: 'T' })])
  expect(waiting.wants).toBe(31 & ~ownerBits.task)
})

test('a chain of 20,000 rows, and 20,000 children', () => {
  const chain = Array.from({ length: 20_000 }, (_, at) => row(`${at}`, at === 0 ? '' : `${at - 1}`))
  const children = Array.from({ length: 20_000 }, (_, at) => row(`c${at}`, '0'))
  const rows = [...children, ...chain.toReversed()]
  Object.assign(chain[0] ?? {}, { user_id: 'ann' })
  expect(resolveOwners(rows).changes).toHaveLength(39_999)
})

test('a row of a cycle has only what it says; rows below have it from the first row of the cycle', () => {
  const rows = [
    row('a', 'b', { user_id: 'ann' }),
    row('b', 'c', { task_id: 'T' }),
    row('c', 'a'),
    row('below', 'a'),
    row('self', 'self', { user_id: 'bob' }),
  ]
  for (const order of [rows, rows.toReversed()]) {
    const { changes } = resolveOwners(order)
    expect(changes.map(({ row: one, owner }) => [one.observation_id, owner.user_id])).toEqual([
      ['below', 'ann'],
    ])
    expect(changes[0]?.owner.task_implicit).toBe(true)
  }
})

const said = fc.record(
  {
    task_id: fc.constantFrom('T', 'U'),
    task_name: fc.constantFrom('plan', 'write'),
    conversation_id: fc.constantFrom('c', 'd'),
    user_id: fc.constantFrom('ann', 'bob'),
    release: fc.constantFrom('1', '2'),
  },
  { requiredKeys: [] },
)

/** A tree of up to 12 rows, some of which never arrive; their parents are earlier ones. */
const tree = fc
  .array(fc.record({ said, parent: fc.nat(), arrives: fc.integer({ min: 0, max: 5 }) }), {
    minLength: 1,
    maxLength: 12,
  })
  .map((nodes) =>
    nodes.flatMap(({ said: owner, parent, arrives }, at) => {
      const of = at === 0 ? '' : `n${parent % at}`
      return arrives === 0 ? [] : [row(`n${at}`, of, owner)]
    }),
  )

/** Rows whose parents may be any of them, so that some form cycles. */
const graph = fc
  .array(fc.record({ said, parent: fc.nat() }), { minLength: 1, maxLength: 8 })
  .map((nodes) =>
    nodes.map(({ said: owner, parent }, at) => {
      const of = parent % (nodes.length + 1)
      return row(`n${at}`, of === nodes.length ? '' : `n${of}`, owner)
    }),
  )

test('with cycles, owners are those of the naive model, in any order', () => {
  fc.assert(
    fc.property(graph, (rows) => {
      const expected = rows.map((one) => ({ ...one, ...ownerByWalking(rows, one) }))
      expect(resolved(rows)).toEqual(expected)
      expect(resolved(rows.toReversed()).toReversed()).toEqual(expected)
    }),
    { numRuns: fuzzRuns(10_000) },
  )
})

test('owners are those of the naive model, and a second resolution changes nothing', () => {
  fc.assert(
    fc.property(tree, (rows) => {
      const owners = resolved(rows)
      expect(owners).toEqual(rows.map((one) => ({ ...one, ...ownerByWalking(rows, one) })))
      expect(resolveOwners(owners).changes).toEqual([])
    }),
    { numRuns: fuzzRuns(10_000) },
  )
})

test('any split and order of arrival leads to the same owners', () => {
  const arrival = tree.chain((rows) =>
    fc.tuple(
      fc.constant(rows),
      fc.shuffledSubarray([...rows.keys()], { minLength: rows.length, maxLength: rows.length }),
      fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 12, maxLength: 12 }),
    ),
  )
  fc.assert(
    fc.property(arrival, ([rows, order, sizes]) => {
      let stored: OwnedRow[] = []
      let at = 0
      for (const size of sizes) {
        const batch = order.slice(at, at + size).flatMap((place) => rows[place] ?? [])
        at += size
        stored = resolved([...stored, ...batch])
      }
      const byId = (one: OwnedRow, other: OwnedRow) =>
        one.observation_id < other.observation_id ? -1 : 1
      expect(stored.toSorted(byId)).toEqual(resolved(rows).toSorted(byId))
    }),
    { numRuns: fuzzRuns(10_000) },
  )
})

test('stored rows change only if a field that they want is given by some row', () => {
  fc.assert(
    fc.property(tree, tree, (first, second) => {
      const renamed = second.filter((one) =>
        first.every((known) => known.observation_id !== one.observation_id),
      )
      const before = resolveOwners(first)
      const gives = renamed.reduce((bits, one) => bits | knownOf(one), before.gives)
      // The promise of `gives` and `wants`, by which most batches need no look at the stored rows.
      if ((before.wants & gives) !== 0) return
      const stored = resolved(first)
      const after = resolved([...stored, ...renamed]).slice(0, stored.length)
      expect(after).toEqual(stored)
    }),
    { numRuns: fuzzRuns(4_000) },
  )
})
