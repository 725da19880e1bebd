import { decodeCursor, encodeCursor } from '../../../kernel/pages.ts'
import { problem } from '../../../kernel/problem.ts'
import type { TreeNode } from '../tree/contract.ts'

/**
 * Behind which node of a list a page begins: by its start and id, so that nodes that come meanwhile
 * neither shift nor repeat the ones to come. `revision` is of the tree that the first page of the walk showed.
 */
export type PagePosition = {
  /** The node whose children are listed; empty for roots and for what a filter found. */
  parent: string
  /** Nanoseconds since 1970; null: before the first. */
  start: bigint | null
  id: string
  revision: string
}

/** The cursor of a list that begins behind a position; `list` names trace and filters. */
export function cursorBehind(list: string, { parent, start, id, revision }: PagePosition): string {
  return encodeCursor(list, [parent, start === null ? null : start.toString(), id, revision])
}

/** Reads a cursor. Throws `invalid_cursor` for one of another list. */
export function positionOf(list: string, cursor: string): PagePosition {
  const [parent, start, id, revision] = decodeCursor(list, cursor, 4)
  const isStart = start === null || (typeof start === 'string' && /^\d{1,19}$/.test(start))
  if (typeof parent === 'string' && isStart && typeof id === 'string' && isRevision(revision)) {
    return { parent, start: start === null ? null : BigInt(start), id, revision }
  }
  throw problem('invalid_cursor', {
    detail: `cursor: got "${cursor.slice(0, 80)}", expected a next_cursor as it was given`,
  })
}

function isRevision(text: unknown): text is string {
  return typeof text === 'string' && /^[\w-]{22}$/.test(text)
}

/** The place in sorted siblings behind the position. Times of nodes begin at `origin_ns`. */
export function placeBehind(
  nodes: readonly TreeNode[],
  { start, id }: Pick<PagePosition, 'start' | 'id'>,
  origin_ns: bigint,
): number {
  if (start === null) return 0
  const at = Number(start - origin_ns)
  let [low, high] = [0, nodes.length]
  while (low < high) {
    const middle = (low + high) >> 1
    const node = nodes[middle]
    const isBehind = node !== undefined && (node.start > at || (node.start === at && node.id > id))
    if (isBehind) high = middle
    else low = middle + 1
  }
  return low
}
