import type { Turn, TurnThread } from '../../../api/schema.gen.d.ts'

/** A part of the turns as they are shown. */
export type TurnItem =
  | { kind: 'turn'; turn: Turn }
  | { kind: 'loop'; loop: Loop }
  /** A sub-agent or a branch, at the turn that began it. */
  | { kind: 'thread'; thread: TurnThread; items: TurnItem[] }

/** Iterations of a loop, folded into one row. */
export type Loop = {
  finding_id: string
  /** Iterations of the whole loop; `iterations` has those that are loaded. */
  of: number
  iterations: { number: number; items: TurnItem[] }[]
}

/**
 * Arranges turns as people read them: each thread follows the turn of its parent that began
 * it, and iterations of a loop that follow each other are one row. Threads that start a task are
 * not nested.
 */
export function groupTurns(turns: readonly Turn[], threads: readonly TurnThread[]): TurnItem[] {
  const byId = new Map(threads.map((each) => [each.thread, each]))
  const isNested = (thread: number) => {
    const found = byId.get(thread)
    return found !== undefined && found.kind !== 'root' && !isOwnParent(found, byId)
  }
  const top = turns.filter(({ thread }) => !isNested(thread))
  const nested = threads.filter(({ thread }) => isNested(thread))
  const itemsOf = (own: readonly Turn[], children: readonly TurnThread[]): TurnItem[] =>
    foldLoops(
      placeThreads(own, children).map((each): TurnItem => {
        if ('turn' in each) return { kind: 'turn', turn: each }
        const below = nested.filter(({ parent }) => parent === each.thread)
        const inside = turns.filter(({ thread }) => thread === each.thread)
        return { kind: 'thread', thread: each, items: itemsOf(inside, below) }
      }),
    )
  const ofTop = nested.filter(({ parent }) => parent === null || !isNested(parent))
  return itemsOf(top, ofTop)
}

/** Returns whether the parents of a thread form a circle, which no reply should have. */
function isOwnParent(thread: TurnThread, byId: ReadonlyMap<number, TurnThread>): boolean {
  const seen = new Set<number>()
  for (let at: TurnThread | undefined = thread; at !== undefined; ) {
    if (seen.has(at.thread)) return true
    seen.add(at.thread)
    at = at.parent === null ? undefined : byId.get(at.parent)
  }
  return false
}

/** Puts threads behind the turn that began them; those without one at their first turn. */
function placeThreads(
  own: readonly Turn[],
  children: readonly TurnThread[],
): (Turn | TurnThread)[] {
  const position = (child: TurnThread) => child.parent_turn ?? (child.first_turn ?? 0) - 0.5
  const placed = [
    ...own.map((turn) => ({ at: turn.turn, order: 0, item: turn as Turn | TurnThread })),
    ...children.map((child) => ({
      at: position(child),
      order: 1,
      item: child as Turn | TurnThread,
    })),
  ]
  return placed.toSorted((a, b) => a.at - b.at || a.order - b.order).map(({ item }) => item)
}

function foldLoops(items: readonly TurnItem[]): TurnItem[] {
  const folded: TurnItem[] = []
  for (let at = 0; at < items.length; ) {
    const end = endOfLoop(items, at)
    const loop = end > at ? toLoop(items.slice(at, end)) : undefined
    if (loop === undefined) {
      folded.push(...items.slice(at, at + 1))
      at += 1
    } else {
      folded.push({ kind: 'loop', loop })
      at = end
    }
  }
  return folded
}

const iterationOf = (item: TurnItem | undefined) =>
  item?.kind === 'turn' ? item.turn.iteration : null

/** Returns the end of the loop that begins at a position, or the position itself. */
function endOfLoop(items: readonly TurnItem[], start: number): number {
  const finding = iterationOf(items[start])?.finding_id
  if (finding === undefined) return start
  let end = start + 1
  for (let at = end; at < items.length; at += 1) {
    const item = items[at]
    const own = iterationOf(item)?.finding_id
    if (own === finding) end = at + 1
    // Failed calls and sub-agents between two steps belong to the loop.
    else if (own !== undefined || (item?.kind === 'turn' && item.turn.step !== null)) break
  }
  while (items[end]?.kind === 'thread') end += 1
  return end
}

function toLoop(items: readonly TurnItem[]): Loop | undefined {
  const first = iterationOf(items[0])
  if (first === null) return undefined
  const iterations: Loop['iterations'] = []
  for (const item of items) {
    const number = iterationOf(item)?.number
    const last = iterations.at(-1)
    if (last === undefined || (number !== undefined && number !== last.number)) {
      iterations.push({ number: number ?? first.number, items: [item] })
    } else last.items.push(item)
  }
  const { finding_id, of } = first
  return iterations.length < 2 ? undefined : { finding_id, of, iterations }
}

/** Returns the turns of items, in their order. */
export function turnsIn(items: readonly TurnItem[]): Turn[] {
  return items.flatMap((item) => {
    if (item.kind === 'turn') return [item.turn]
    if (item.kind === 'thread') return turnsIn(item.items)
    return item.loop.iterations.flatMap((iteration) => turnsIn(iteration.items))
  })
}

/** A message of the history that a call sent again. */
export type Earlier = { turn: number; step: number | null; role: string; text: string }

/** Returns what earlier turns of the thread said, and its parent before it began, in order. */
export function earlierThan(
  turn: Turn,
  turns: readonly Turn[],
  threads: readonly TurnThread[],
): Earlier[] {
  const own = threads.find(({ thread }) => thread === turn.thread)
  return turns.filter((each) => isBefore(each, turn, own)).flatMap(saidIn)
}

function isBefore(each: Turn, turn: Turn, own: TurnThread | undefined): boolean {
  if (each.turn >= turn.turn) return false
  if (each.thread === turn.thread) return true
  const { kind, parent, parent_turn } = own ?? {}
  return kind === 'branch' && each.thread === parent && each.turn <= (parent_turn ?? -1)
}

function saidIn({ turn, step, messages, answer, tool_uses }: Turn): Earlier[] {
  const said = messages.map(({ role, text }) => ({ turn, step, role: role as string, text }))
  if (answer === null) return said
  const uses = tool_uses.filter(({ origin }) => origin === 'answer').map(({ title }) => title)
  const text = [answer.text?.text ?? '', ...uses].filter((part) => part !== '').join(' → ')
  return [...said, { turn, step, role: 'assistant', text }]
}
