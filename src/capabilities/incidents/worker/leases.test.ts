import fc from 'fast-check'
import { expect, test } from 'vitest'
import { shareLeases } from './leases.ts'

/** A naive model: sets of projects, and the counts that each worker reported at its last claim. */
class Model {
  readonly workers = new Map<number, { held: Set<number>; reported: number; isAlive: boolean }>()
  readonly free = new Set<number>()

  claim(id: number, reported: ReadonlyMap<number, number>): void {
    const own = this.workers.get(id)
    if (own === undefined || !own.isAlive) return
    const rest = [...this.workers].filter(([other]) => other !== id)
    const { take, give } = shareLeases({
      held: own.held.size,
      elsewhere: rest.reduce(
        (sum, [other, { reported: now }]) => sum + (reported.get(other) ?? now),
        0,
      ),
      free: this.free.size,
      others: rest.filter(([, { isAlive }]) => isAlive).length,
    })
    for (const project of [...own.held].slice(0, give)) {
      own.held.delete(project)
      this.free.add(project)
    }
    const dead = rest.filter(([, { isAlive }]) => !isAlive).map(([, { held }]) => held)
    let left = take
    for (const source of [this.free, ...dead]) {
      for (const project of [...source]) {
        if (left === 0) break
        source.delete(project)
        own.held.add(project)
        left -= 1
      }
    }
    own.reported = own.held.size
    for (const [other, { held, isAlive }] of rest) {
      if (!isAlive && held.size === 0) this.workers.delete(other)
    }
  }

  get living() {
    return [...this.workers.values()].filter(({ isAlive }) => isAlive)
  }
}

const event = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('join' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('kill' as const), at: fc.nat(20) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('add' as const), many: fc.nat(9) }) },
  { weight: 9, arbitrary: fc.record({ do: fc.constant('claim' as const), at: fc.nat(20) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('claim together' as const) }) },
)

type Event = typeof event extends fc.Arbitrary<infer T> ? T : never

/** Applies events to a model, and counts projects and workers. */
class History {
  readonly model = new Model()
  projects = 0
  #workers = 0

  add(many: number): void {
    for (let at = 0; at < many; at += 1) this.model.free.add(this.projects++)
  }

  join(): void {
    this.model.workers.set(this.#workers++, { held: new Set(), reported: 0, isAlive: true })
  }

  /** All workers claim, each with the counts that the others reported before. */
  claimTogether(): void {
    const reported = this.#reported()
    for (const id of [...this.model.workers.keys()]) this.model.claim(id, reported)
  }

  claimInTurn(): void {
    for (const id of [...this.model.workers.keys()]) this.model.claim(id, this.#reported())
  }

  claimOne(at: number): void {
    this.model.claim(this.#idAt(at), this.#reported())
  }

  kill(at: number): void {
    const worker = this.model.workers.get(this.#idAt(at))
    if (worker !== undefined) worker.isAlive = false
  }

  apply(one: Event): void {
    if (one.do === 'join') this.join()
    else if (one.do === 'add') this.add(one.many)
    else if (one.do === 'claim together') this.claimTogether()
    else if (one.do === 'claim') this.claimOne(one.at)
    else this.kill(one.at)
  }

  get held(): number[] {
    return [...this.model.workers.values()].flatMap(({ held }) => [...held])
  }

  #idAt(at: number): number {
    const ids = [...this.model.workers.keys()]
    return ids[at % Math.max(1, ids.length)] ?? -1
  }

  #reported(): Map<number, number> {
    return new Map([...this.model.workers].map(([id, { reported }]) => [id, reported]))
  }
}

test('workers that join and die end with at most their share, and no project is left', () => {
  fc.assert(
    fc.property(fc.nat(40), fc.array(event, { maxLength: 40 }), (projects, events) => {
      const history = new History()
      history.add(projects)
      for (const one of events) {
        history.apply(one)
        expect(new Set(history.held).size).toBe(history.held.length)
        expect(history.held.length + history.model.free.size).toBe(history.projects)
      }
      if (history.model.living.length === 0) history.join()
      for (let round = 0; round < 4; round += 1) history.claimInTurn()
      const { living, free } = history.model
      const share = Math.ceil(history.projects / living.length)
      expect(free.size).toBe(0)
      for (const { held } of living) expect(held.size).toBeLessThanOrEqual(share)
      expect(living.reduce((sum, { held }) => sum + held.size, 0)).toBe(history.projects)
    }),
    { numRuns: 300 },
  )
})

test.each([
  [
    { held: 0, elsewhere: 0, free: 0, others: 0 },
    { take: 0, give: 0 },
  ],
  [
    { held: 0, elsewhere: 0, free: 7, others: 0 },
    { take: 7, give: 0 },
  ],
  [
    { held: 7, elsewhere: 0, free: 0, others: 1 },
    { take: 0, give: 3 },
  ],
  [
    { held: 0, elsewhere: 4, free: 3, others: 1 },
    { take: 4, give: 0 },
  ],
])('%o: %o', (counts, move) => {
  expect(shareLeases(counts)).toEqual(move)
})
