import { decodeCursor, encodeCursor } from '../../../kernel/pages.ts'
import { problem } from '../../../kernel/problem.ts'
import { isStorable } from '../../../model/list-query.ts'
import type { Position } from '../compile/page-order.ts'
import type { KeyColumn, KeyKind } from '../compile/statement.ts'

/** The place behind a page's last row, for `list`: what the pages are of. */
export function cursorBehind(
  list: string,
  row: Readonly<Record<string, unknown>>,
  keys: readonly KeyColumn[],
): string {
  return encodeCursor(
    list,
    keys.map(({ alias }) => String(row[alias])),
  )
}

/** Reads a cursor. Throws `invalid_cursor` when it is of another list, or none of ours. */
export function positionIn(list: string, cursor: string, keys: readonly KeyColumn[]): Position {
  const position = decodeCursor(list, cursor, keys.length)
  return position.map((part, at) => {
    const kind = keys[at]?.kind ?? 'text'
    if (typeof part === 'string' && isPart(part, kind)) return part
    throw problem('invalid_cursor', { detail: 'cursor: expected the next_cursor of a page' })
  })
}

/** Cursors are no secret and can be forged: each part must be what its column can be. */
const patterns: Readonly<Record<Exclude<KeyKind, 'text' | 'list' | 'json'>, RegExp>> = {
  uuid: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i,
  integer: /^-?\d{1,18}$/,
  time: /^\d{1,19}$/,
  decimal: /^-?\d{1,28}(\.\d{1,9})?$/,
  float: /^\d{1,20}$/,
  bool: /^(true|false|[01tf])$/,
  null_flag: /^[01]$/,
}

const int64_max = 2n ** 63n - 1n
const uint64_max = 2n ** 64n - 1n

function isPart(text: string, kind: KeyKind): boolean {
  if (kind === 'text' || kind === 'list' || kind === 'json') return isStorable(text)
  if (!patterns[kind].test(text)) return false
  if (kind === 'time') return BigInt(text) <= int64_max
  return kind !== 'float' || BigInt(text) <= uint64_max
}
