import type { Observation } from '../../../model/observation.ts'

/** To whom an observation belongs. Empty text: not known. */
export type Owner = Pick<
  Observation,
  | 'task_id'
  | 'task_name'
  | 'task_implicit'
  | 'conversation_id'
  | 'conversation_external_id'
  | 'user_id'
  | 'release'
>

/** An observation of a trace, as far as ownership needs it. */
export type OwnedRow = Owner &
  Pick<Observation, 'trace_id' | 'observation_id' | 'parent_observation_id' | 'start_time'>

/** Fields of ownership, as bits. A task's name is a field of its own: it goes with the task's id. */
export const ownerBits = { task: 1, task_name: 2, conversation: 4, user: 8, release: 16 } as const
const allBits = 31

/** Returns the fields that are known of an owner, as bits. */
export function knownOf(owner: Owner): number {
  return (
    (owner.task_implicit ? 0 : ownerBits.task) |
    (owner.task_name === '' ? 0 : ownerBits.task_name) |
    (owner.conversation_id === '' ? 0 : ownerBits.conversation) |
    (owner.user_id === '' ? 0 : ownerBits.user) |
    (owner.release === '' ? 0 : ownerBits.release)
  )
}

/** The owners of the rows of a trace. */
export type ResolvedOwners<Row> = {
  /** Rows whose ancestors know more than they do, with the owner that follows. */
  changes: { row: Row; owner: Owner }[]
  /** Fields that a row has, as bits. */
  gives: number
  /** Fields that a row lacks and that an ancestor may bring which is not stored yet, as bits. */
  wants: number
}

/**
 * Finds the owners of the rows of traces, in any order. A row keeps what it says itself. What it does
 * not say it has from its nearest ancestor that knows it: only through ancestors that are all here. A
 * task's name comes only from an ancestor of the same task. Nothing is guessed: a row without such an
 * ancestor stays as it is. A row that is its own ancestor has only what it says.
 *
 * `links` has the rows that describe the same call as a row of another trace, which they have as if
 * it were their parent. Such a row also takes part in the task of that trace if nothing names one.
 *
 * Further rows never change an owner that was found, because nothing can come between a row and
 * its ancestor. So the result depends on the rows alone and not on the order of their arrival, except
 * in a cycle, and rows whose owners were written earlier lead to the same owners.
 */
export function resolveOwners<Row extends OwnedRow>(
  rows: readonly Row[],
  links: ReadonlyMap<Row, Row> = new Map(),
): ResolvedOwners<Row> {
  const nodes = new Map<string, Node<Row>>()
  for (const row of rows) {
    const known = nodes.get(keyOf(row))
    // Several rows of one id (a span that is sent again with another start): the first one counts.
    if (known === undefined || row.start_time < known.row.start_time) {
      nodes.set(keyOf(row), { row, owner: row, open: false, in_cycle: false, state: 'new' })
    }
  }
  const tree = { nodes, links }
  const resolved: ResolvedOwners<Row> = { changes: [], gives: 0, wants: 0 }
  for (const row of rows) {
    const { owner, open } = resolvedFrom(tree, row)
    const known = knownOf(owner)
    resolved.gives |= known
    if (open) resolved.wants |= allBits & ~known
    if (!isSame(owner, row)) resolved.changes.push({ row, owner })
  }
  return resolved
}

type Node<Row> = {
  row: Row
  owner: Owner
  /** An ancestor is not here. */
  open: boolean
  /** It is its own ancestor. */
  in_cycle: boolean
  state: 'new' | 'visiting' | 'done'
}

type Tree<Row> = { nodes: ReadonlyMap<string, Node<Row>>; links: ReadonlyMap<Row, Row> }

type Found = { owner: Owner; open: boolean }

function keyOf({ trace_id, observation_id }: OwnedRow): string {
  return `${trace_id} ${observation_id}`
}

/** Returns the node of a row's parent, or of the row of the same call in another trace. */
function above<Row extends OwnedRow>({ nodes, links }: Tree<Row>, row: Row): Node<Row> | undefined {
  const link = links.get(row)
  if (link !== undefined) return nodes.get(keyOf(link))
  const { trace_id, parent_observation_id } = row
  if (parent_observation_id === '') return undefined
  return nodes.get(`${trace_id} ${parent_observation_id}`)
}

function resolvedFrom<Row extends OwnedRow>(tree: Tree<Row>, row: Row): Found {
  const parent = above(tree, row)
  if (parent === undefined) return { owner: row, open: row.parent_observation_id !== '' }
  settle(tree, parent)
  const own = tree.nodes.get(keyOf(row))
  if (own?.in_cycle && parent.in_cycle) return { owner: row, open: false }
  return { owner: inherit(row, parent.owner, tree.links.has(row)), open: parent.open }
}

/** Resolves a node and its ancestors, without recursion: a chain may have ten thousand. */
function settle<Row extends OwnedRow>(tree: Tree<Row>, from: Node<Row>): void {
  const chain: Node<Row>[] = []
  let at: Node<Row> | undefined = from
  while (at?.state === 'new') {
    at.state = 'visiting'
    chain.push(at)
    at = above(tree, at.row)
  }
  // The chain ends above at a node that is done, at none, or at one of its own, which closes a cycle.
  const top = chain.at(-1)
  if (top !== undefined && at === undefined) top.open = top.row.parent_observation_id !== ''
  if (at?.state === 'visiting')
    for (const node of chain.slice(chain.indexOf(at))) node.in_cycle = true
  let parent = at?.state === 'done' ? at : undefined
  for (const node of chain.toReversed()) {
    if (parent !== undefined && !node.in_cycle) {
      node.owner = inherit(node.row, parent.owner, tree.links.has(node.row))
      node.open = parent.open
    }
    node.state = 'done'
    parent = node
  }
}

/** Returns what a row says, filled up with what its parent knows; the row itself if it is the same. */
function inherit(row: Owner, parent: Owner, isSameCall: boolean): Owner {
  const takesTask = takesTaskOf(row, parent, isSameCall)
  const task_id = takesTask ? parent.task_id : row.task_id
  const takesName = row.task_name === '' && parent.task_name !== '' && task_id === parent.task_id
  const takesTalk = row.conversation_id === '' && parent.conversation_id !== ''
  const takesUser = row.user_id === '' && parent.user_id !== ''
  const takesRelease = row.release === '' && parent.release !== ''
  if (!(takesTask || takesName || takesTalk || takesUser || takesRelease)) return row
  const talk = takesTalk ? parent : row
  return {
    task_id,
    task_name: takesName ? parent.task_name : row.task_name,
    task_implicit: row.task_implicit && parent.task_implicit,
    conversation_id: talk.conversation_id,
    conversation_external_id: talk.conversation_external_id,
    user_id: takesUser ? parent.user_id : row.user_id,
    release: takesRelease ? parent.release : row.release,
  }
}

/** A row of the same call also takes part in a task that nothing names. */
function takesTaskOf(row: Owner, parent: Owner, isSameCall: boolean): boolean {
  if (!row.task_implicit) return false
  return !parent.task_implicit || (isSameCall && parent.task_id !== row.task_id)
}

function isSame(a: Owner, b: Owner): boolean {
  return a === b || (knownOf(a) === knownOf(b) && a.task_id === b.task_id)
}
