import { sleep } from '../../../kernel/time.ts'
import type { QueryParam } from '../../../platform/columnar/index.ts'
import { anyOf, type ProjectCondition } from './conditions.ts'

/** Runs one statement for a condition. Returns whether it changed rows. */
export type ConditionWork = (condition: ProjectCondition, signal?: AbortSignal) => Promise<boolean>

/**
 * Combines concurrent conditions with the same `key` into one statement. The cost of deletions
 * depends on the number of statements, not of rows, so deletions of several projects in a partition
 * run as one, and can drop whole parts. Statements of a key run one after the other; conditions
 * that arrive meanwhile go into the next one.
 */
export type SharedChanges = (
  key: string,
  asked: { condition: ProjectCondition; signal: AbortSignal | undefined; work: ConditionWork },
) => Promise<boolean>

/** Time for which the first condition of a key waits for others. */
const gather_ms = 50

/**
 * Maximum conditions of one statement, and approximate maximum bytes of its parameters in the URL.
 */
const conditions_max = 50

const params_bytes_max = 500_000

type Waiting = {
  condition: ProjectCondition
  work: ConditionWork
  signal: AbortSignal | undefined
  end: PromiseWithResolvers<boolean>
}

/** Opens shared changes; see `SharedChanges`. */
export function shareChanges(): SharedChanges {
  const queues = new Map<string, Waiting[]>()
  const drain = async (key: string, waiting: Waiting[]) => {
    await sleep(gather_ms)
    while (waiting.length > 0) await runTogether(takeGroup(waiting))
    queues.delete(key)
  }
  return (key, { condition, signal, work }) => {
    const change = { condition, signal, work, end: Promise.withResolvers<boolean>() }
    const known = queues.get(key)
    known?.push(change)
    if (known === undefined) {
      const waiting = [change]
      queues.set(key, waiting)
      void drain(key, waiting)
    }
    return untilAborted(change)
  }
}

/** Waits for the end of a change. Rejects at once on abort; the statement may continue. */
async function untilAborted({ end, signal }: Waiting): Promise<boolean> {
  const abandon = () => end.reject(signal?.reason)
  if (signal?.aborted) abandon()
  signal?.addEventListener('abort', abandon, { once: true })
  try {
    return await end.promise
  } finally {
    signal?.removeEventListener('abort', abandon)
  }
}

/** Takes the conditions of the next statement from the queue, skipping aborted ones. */
function takeGroup(waiting: Waiting[]): Waiting[] {
  const group: Waiting[] = []
  let bytes = 0
  for (let next = waiting[0]; next !== undefined; next = waiting[0]) {
    bytes += paramBytes(next.condition)
    if (group.length > 0 && (group.length === conditions_max || bytes > params_bytes_max)) break
    waiting.shift()
    if (!next.signal?.aborted) group.push(next)
  }
  return group
}

async function runTogether(group: readonly Waiting[]): Promise<void> {
  const [first] = group
  if (first === undefined) return
  try {
    const condition = anyOf(group.map((one) => one.condition))
    const changed = await first.work(condition, combineSignals(group))
    for (const { end } of group) end.resolve(changed)
  } catch (error) {
    for (const { end } of group) end.reject(error)
  }
}

/** Returns a signal that aborts when all callers have aborted. */
function combineSignals(group: readonly Waiting[]): AbortSignal | undefined {
  const signals = group.flatMap(({ signal }) => signal ?? [])
  if (signals.length < group.length) return undefined
  const all = new AbortController()
  const check = () => {
    if (signals.every(({ aborted }) => aborted)) all.abort(signals[0]?.reason)
  }
  for (const signal of signals) signal.addEventListener('abort', check, { once: true })
  return all.signal
}

function paramBytes({ params }: ProjectCondition): number {
  return Object.values(params).reduce<number>((bytes, value) => bytes + valueBytes(value), 0)
}

/** Estimates the bytes of a value in a URL, with its delimiters. */
function valueBytes(value: QueryParam): number {
  if (typeof value === 'string') return 3 * value.length
  if (Array.isArray(value)) {
    return value.reduce<number>((bytes, one) => bytes + 9 + 3 * String(one).length, 0)
  }
  return 30
}
