import { decideEnds, sendAt, sendable, superseded, type Waiting } from '../../messages/outbox.ts'
import type { Rule } from '../../rules/rule.ts'

/** A row of the outbox that waits. */
export type WaitingRow = Waiting & {
  id: string
  rule_name: string
  grouping: Rule['grouping']
  created_ms: number
  next_attempt_ms: number
  /** True once its group was due, or a person sent it again: it does not wait for the group. */
  released: boolean
}

/** A decision about each waiting row of a channel. Rows are named by id. */
export type ClaimPlan = {
  superseded: string[]
  /** Messages to send in the next attempt: several only of one rule. */
  claimed: WaitingRow[]
  /** Those of them that tell the opening and the end in one. */
  joined: string[]
  /** Messages whose group is due. */
  released: string[]
  /** Messages that are not due, and when they are. */
  deferred: { id: string; until_ms: number }[]
}

/**
 * Plans the next attempt of a channel. A message that was never attempted waits for its group; one
 * that was, for its next attempt; and each one for the older messages of its incident.
 */
export function planClaim(
  rows: readonly WaitingRow[],
  groups: ReadonlyMap<string, number>,
  { now_ms, messages_max }: { now_ms: number; messages_max: number },
): ClaimPlan {
  const dropped = new Set<Waiting>(superseded(rows))
  const ends = decideEnds(rows.filter((row) => !dropped.has(row)))
  for (const row of ends.dropped) dropped.add(row)
  const rest = rows.filter((row) => !dropped.has(row))
  const heads = new Set<Waiting>(sendable(rest))
  const due = dueTimes(rest, groups)
  const ready = rest
    .filter((row) => heads.has(row) && timeOf(due, row) <= now_ms)
    .toSorted((one, other) => one.created_ms - other.created_ms || (one.id < other.id ? -1 : 1))
  const [first] = ready
  const claimed = ready
    .filter(({ rule_name }) => rule_name === first?.rule_name)
    .slice(0, messages_max)
  return {
    superseded:
      rest.length === rows.length ? [] : [...dropped].map((row) => (row as WaitingRow).id),
    claimed,
    joined: claimed.filter((row) => ends.joined.includes(row)).map(({ id }) => id),
    released: ready.filter(({ released }) => !released).map(({ id }) => id),
    deferred: deferredRows(rest, heads, due).filter(({ until_ms }) => until_ms > now_ms),
  }
}

/** Returns when each message is due, without regard to the order of its incident. */
function dueTimes(
  rows: readonly WaitingRow[],
  groups: ReadonlyMap<string, number>,
): Map<WaitingRow, number> {
  const first = new Map<string, number>()
  for (const row of rows.filter(waitsForGroup)) {
    const known = first.get(row.rule_name) ?? Number.POSITIVE_INFINITY
    first.set(row.rule_name, Math.min(known, row.created_ms))
  }
  return new Map(
    rows.map((row) => {
      if (!waitsForGroup(row)) return [row, row.next_attempt_ms]
      const first_waiting_ms = first.get(row.rule_name) ?? row.created_ms
      const group = { first_waiting_ms, last_sent_ms: groups.get(row.rule_name) ?? null }
      return [row, sendAt(group, row.grouping) ?? row.created_ms]
    }),
  )
}

function waitsForGroup({ released, attempts }: WaitingRow): boolean {
  return !released && attempts === 0
}

/** A message behind an older one of its incident is due when the older one is. */
function deferredRows(
  rows: readonly WaitingRow[],
  heads: ReadonlySet<Waiting>,
  due: ReadonlyMap<WaitingRow, number>,
): ClaimPlan['deferred'] {
  const head = new Map<string, WaitingRow>()
  for (const row of rows) if (heads.has(row)) head.set(row.incident, row)
  return rows.map((row) => {
    const until_ms = Math.max(timeOf(due, row), timeOf(due, head.get(row.incident) ?? row))
    return { id: row.id, until_ms }
  })
}

function timeOf(due: ReadonlyMap<WaitingRow, number>, row: WaitingRow): number {
  return due.get(row) ?? 0
}
