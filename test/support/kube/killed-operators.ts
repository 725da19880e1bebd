import { sleep } from '../../../src/kernel/time.ts'
import { type OperatorChild, startOperatorChild } from './operator-child.ts'
import type { OperatorProcessOptions } from './operator-process.ts'

/** One place where an operator is killed once so many of its writes have taken effect. */
export type KilledAt<Place> = { place: Place; write: number }

const writes_max = 40
/** What is done may be told in an event afterwards, which is a write too. */
const afterwards_ms = 300
/** Processes at a time; machines of tests have two cores. */
const children_max = 2

/**
 * Runs an operator in a place of its own for each number of writes, 1 and up, and has it killed at
 * that write; ends when one comes through without being killed. `isDone` tells that the operator of
 * a place has done all that there was to do. Resolves with all places, the last one included.
 */
export async function killAtEachWrite<Place>(options: {
  /** Makes the place, which needs something to be done. */
  place: (write: number) => Promise<Place>
  operator: (place: Place) => Promise<Omit<OperatorProcessOptions, 'exit_at_write'>>
  isDone: (place: Place) => Promise<unknown>
}): Promise<KilledAt<Place>[]> {
  const found: KilledAt<Place>[] = []
  let whole = false
  for (let write = 1; !whole; write += children_max) {
    if (write > writes_max) throw new Error(`it still writes after ${writes_max} writes`)
    const batch = Array.from({ length: children_max }, (_, i) => write + i)
    await Promise.all(
      batch.map(async (at) => {
        const place = await options.place(at)
        found.push({ place, write: at })
        await using child = startOperatorChild({
          ...(await options.operator(place)),
          exit_at_write: at,
        })
        if (!(await wasKilled(child, options.isDone(place)))) whole = true
      }),
    )
  }
  return found.sort((a, b) => a.write - b.write)
}

/** False when it has done everything before it came to that write. */
async function wasKilled(child: OperatorChild, done: Promise<unknown>): Promise<boolean> {
  const ended = child.ended.then(({ status }) => {
    if (status !== null) throw new Error(`the operator ended with ${status}:\n${child.output()}`)
    return true
  })
  const isThrough = done.then(() => sleep(afterwards_ms))
  return Promise.race([ended, isThrough.then(() => false)])
}
