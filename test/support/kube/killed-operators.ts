import { sleep } from '../../../src/kernel/time.ts'
import type { ServiceClient } from '../../../src/operator/service/service-client.ts'
import type { KubeClient } from '../../../src/platform/kube/index.ts'
import { isSoak, quarterOf } from '../suite/budget.ts'
import { startTestOperator, type TestOperatorOptions } from './operator.ts'
import { startOperatorChild } from './operator-child.ts'
import type { OperatorProcessOptions } from './operator-process.ts'

/** An operator that is killed after a given number of its writes has taken effect. */
export type DoomedOperator = AsyncDisposable & { died: Promise<void> }

/**
 * One place (namespace, project) and the write at which its operator was killed, if it came to that
 * write.
 */
export type KilledAt<Place> = { place: Place; write: number }

const writes_max = 40
/** A completed action may be followed by an event, which is a write too. */
const afterwards_ms = 1_000

/** What to kill, and how often. */
type Killing<Place> = {
  /** Creates a place with work to do. */
  place: (write: number) => Promise<Place>
  operator: (place: Place, write: number) => Promise<DoomedOperator>
  isDone: (place: Place) => Promise<unknown>
  /** Minimum number of writes: an operator that completes earlier fails the test. */
  writes: number
  /** Concurrent places of a soak. */
  at_once: number
}

/**
 * Runs an operator in a new place for each number of writes, 1 and up, which is killed at that
 * write; stops when an operator completes. `make test` kills at a quarter of the expected writes
 * only. `isDone` reports that the operator of a place has done everything. Resolves with all places,
 * including those of the last ones.
 */
export async function killAtEachWrite<Place>(options: Killing<Place>): Promise<KilledAt<Place>[]> {
  const { at_once, writes } = options
  const expected_writes = Array.from({ length: writes }, (_, i) => 1 + i)
  const found: KilledAt<Place>[] = []
  let last = Number.POSITIVE_INFINITY
  const kill = async (write: number) => {
    const place = await options.place(write)
    found.push({ place, write })
    await using operator = await options.operator(place, write)
    const isThrough = options.isDone(place).then(() => sleep(afterwards_ms))
    const died = operator.died.then(() => true)
    if (!(await Promise.race([died, isThrough.then(() => false)]))) last = Math.min(last, write)
  }
  if (!isSoak) await Promise.all(quarterOf(expected_writes).map(kill))
  for (let first = 1; isSoak && last > first; first += at_once) {
    if (first > writes_max) throw new Error(`it still writes after ${writes_max} writes`)
    await Promise.all(Array.from({ length: at_once }, (_, i) => kill(first + i)))
  }
  if (last <= writes) throw new Error(`it was complete before write ${last}, expected ${writes}`)
  return found.sort((a, b) => a.write - b.write)
}

/** A process that is killed by SIGKILL. */
export function doomedProcess(options: OperatorProcessOptions, write: number): DoomedOperator {
  const child = startOperatorChild({ ...options, exit_at_write: write })
  const died = child.ended.then(({ status }) => {
    if (status !== null) throw new Error(`the operator ended with ${status}:\n${child.output()}`)
  })
  died.catch(() => undefined)
  return { died, [Symbol.asyncDispose]: () => child[Symbol.asyncDispose]() }
}

/**
 * An operator in this process whose clients are cut off: from that write on, its requests have no
 * effect and get no answer, including that write. Takes a tenth of the time of a process.
 */
export function doomedOperator(options: TestOperatorOptions, write: number): DoomedOperator {
  const death = Promise.withResolvers<void>()
  let dead = false
  const operator = startTestOperator({
    ...options,
    clients: (clients) => cutOff(clients, () => dead),
    onWrite: () => {
      if (operator.writes.length < write) return
      dead = true
      death.resolve()
    },
  })
  return { died: death.promise, [Symbol.asyncDispose]: () => operator.stop() }
}

type Clients = { kube: KubeClient; service: ServiceClient }

class CutOff extends Error {
  override readonly name = 'CutOff'
}

function cutOff({ kube, service }: Clients, isDead: () => boolean): Clients {
  const alive = () => {
    if (isDead()) throw new CutOff('this operator is dead')
  }
  const call = <A extends unknown[], R>(send: (...args: A) => Promise<R>) => {
    return async (...args: A): Promise<R> => {
      alive()
      const answer = await send(...args)
      alive()
      return answer
    }
  }
  return {
    service: { request: call(service.request) },
    kube: {
      list: call(kube.list),
      read: call(kube.read),
      create: call(kube.create),
      replace: call(kube.replace),
      patch: call(kube.patch),
      apply: call(kube.apply),
      remove: call(kube.remove),
      watch: async function* (...args) {
        for await (const event of kube.watch(...args)) {
          alive()
          yield event
        }
      },
    },
  }
}
