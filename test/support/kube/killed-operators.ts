import { sleep } from '../../../src/kernel/time.ts'
import type { ServiceClient } from '../../../src/operator/service/service-client.ts'
import type { KubeClient } from '../../../src/platform/kube/index.ts'
import { startTestOperator, type TestOperatorOptions } from './operator.ts'
import { startOperatorChild } from './operator-child.ts'
import type { OperatorProcessOptions } from './operator-process.ts'

/** An operator that dies when so many of its writes have taken effect. */
export type DoomedOperator = AsyncDisposable & { died: Promise<void> }

/** One place where an operator was killed, or had no more to do before it came to that write. */
export type KilledAt<Place> = { place: Place; write: number }

const writes_max = 40
/** What is done may be told in an event afterwards, which is a write too. */
const afterwards_ms = 1_000

/**
 * Runs an operator in a place of its own for each number of writes, 1 and up, which dies at that
 * write; ends when one comes through. `isDone` tells that the operator of a place has done all that
 * there was to do. Resolves with all places, those of the last ones included.
 */
export async function killAtEachWrite<Place>(options: {
  /** Makes the place, which needs something to be done. */
  place: (write: number) => Promise<Place>
  operator: (place: Place, write: number) => Promise<DoomedOperator>
  isDone: (place: Place) => Promise<unknown>
  /** Places at a time. */
  at_once: number
}): Promise<KilledAt<Place>[]> {
  const { at_once } = options
  const found: KilledAt<Place>[] = []
  let came_through = false
  for (let first = 1; !came_through; first += at_once) {
    if (first > writes_max) throw new Error(`it still writes after ${writes_max} writes`)
    const writes = Array.from({ length: at_once }, (_, i) => first + i)
    await Promise.all(
      writes.map(async (write) => {
        const place = await options.place(write)
        found.push({ place, write })
        await using operator = await options.operator(place, write)
        const isThrough = options.isDone(place).then(() => sleep(afterwards_ms))
        const died = operator.died.then(() => true)
        if (!(await Promise.race([died, isThrough.then(() => false)]))) came_through = true
      }),
    )
  }
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
 * An operator in this process whose clients are cut off: from that write on nothing that it does has
 * an effect, and it hears of nothing, not even of that write. Takes a tenth of what a process takes.
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
