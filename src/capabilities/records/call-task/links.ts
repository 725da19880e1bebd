/**
 * Names that link calls of different traces. A call that *wants* a name continues the call that
 * *gives* it: the answer that it names as the previous one, the call that started its sub-agent, the
 * call whose tool results it sends, the first call of its loop.
 */
export type CallLinks = { gives: string[]; wants: string }

/** A call that gives or wants a name. Times are nanoseconds since 1970. */
export type LinkedCall = {
  name: string
  is_giver: boolean
  trace_id: string
  observation_id: string
  start_time: bigint
}

const gives = 'task.known_as'
const wants = 'task.continues'

/** Writes the names of a call into the attributes of its observation. */
export function addLinkAttributes(attributes: Record<string, string>, links: CallLinks): void {
  if (links.gives.length > 0) attributes[gives] = links.gives.join('\n')
  if (links.wants !== '') attributes[wants] = links.wants
}

/** Reads the names of a call from the attributes of its observation; undefined without one. */
export function linksFrom(attributes: Readonly<Record<string, string>>): CallLinks | undefined {
  const given = attributes[gives] ?? ''
  const wanted = attributes[wants] ?? ''
  if (given === '' && wanted === '') return undefined
  return { gives: given === '' ? [] : given.split('\n'), wants: wanted }
}

/** Clocks of two machines may differ by this much. */
const clocks_ns = 5_000_000_000n
/** The calls of a loop whose names are not unique follow each other within this time. */
const loop_ns = 3_600_000_000_000n

/**
 * Returns the call that each call continues: of those that give the name that it wants, the one that
 * began last before it. The order of the calls does not matter.
 */
export function nearestGivers(calls: readonly LinkedCall[]): Map<LinkedCall, LinkedCall> {
  const givers = Map.groupBy(
    calls.filter(({ is_giver }) => is_giver).toSorted(compareCalls),
    ({ name }) => name,
  )
  const found = new Map<LinkedCall, LinkedCall>()
  for (const call of calls) {
    if (call.is_giver) continue
    const named = (givers.get(call.name) ?? []).filter((one) => canContinue(call, one))
    const giver = named.findLast(({ start_time }) => start_time <= call.start_time) ?? named[0]
    if (giver !== undefined) found.set(call, giver)
  }
  return found
}

function canContinue(call: LinkedCall, giver: LinkedCall): boolean {
  if (giver.trace_id === call.trace_id && giver.observation_id === call.observation_id) return false
  if (giver.start_time > call.start_time + clocks_ns) return false
  return !call.name.startsWith('history:') || call.start_time - giver.start_time <= loop_ns
}

function compareCalls(a: LinkedCall, b: LinkedCall): number {
  if (a.start_time !== b.start_time) return a.start_time < b.start_time ? -1 : 1
  const [left, right] = [`${a.trace_id} ${a.observation_id}`, `${b.trace_id} ${b.observation_id}`]
  return left < right ? -1 : left > right ? 1 : 0
}
