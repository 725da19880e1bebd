import type { OtlpValue } from '../contract.ts'
import { plainOf } from './value-text.ts'

/** The part of an indexed key after its number: names, and indexes into lists. */
export type KeyPath = readonly (string | number)[]

/** Attributes that belong together, in wire order; reused for every span. */
export type Gathered = {
  length: number
  /** The list index of each value. */
  places: number[]
  paths: KeyPath[]
  values: OtlpValue[]
  /** The list that the attributes form, once it was requested. */
  messages: unknown[] | undefined
}

export function emptyGathered(): Gathered {
  return { length: 0, places: [], paths: [], values: [], messages: undefined }
}

/** Names that only wrap the next name. */
const wrappers = new Set([
  'message',
  'message_content',
  'tool_call',
  'prompt',
  'completion',
  'document',
  'embedding',
])

/**
 * Parses the part after `<prefix>.N.` as a path; undefined when it is too long or an index too
 * large. `message.tool_calls.0.tool_call.id` becomes `['tool_calls', 0, 'id']`.
 */
export function keyPath(rest: string, index_end: number): KeyPath | undefined {
  const path: (string | number)[] = []
  const parts = rest === '' ? [] : rest.split('.')
  if (parts.length > path_max) return undefined
  for (const [at, part] of parts.entries()) {
    if (/^\d+$/.test(part)) {
      if (Number(part) >= index_end) return undefined
      path.push(Number(part))
    } else if (!wrappers.has(part) || at === parts.length - 1) path.push(part)
  }
  return path
}

/** No convention has longer paths. */
const path_max = 12

type Node = Record<string, unknown> | unknown[]

/**
 * Returns the list that the attributes form, without holes. Its items are objects, or values
 * without a path.
 */
export function messagesOf(gathered: Gathered): unknown[] {
  gathered.messages ??= messagesFrom(gathered)
  return gathered.messages
}

function messagesFrom(gathered: Gathered): unknown[] {
  const byPlace = new Map<number, unknown>()
  for (let at = 0; at < gathered.length; at++) {
    const place = gathered.places[at] ?? 0
    const path = gathered.paths[at] ?? []
    const value = plainOf(gathered.values[at])
    if (path.length === 0) {
      if (!byPlace.has(place)) byPlace.set(place, value)
      continue
    }
    const known = byPlace.get(place)
    const root: Node = isNode(known) ? known : newNode(path[0])
    if (known !== root) byPlace.set(place, root)
    put(root, path, value)
  }
  const places = [...byPlace.keys()].sort((a, b) => a - b)
  return places.map((place) => withoutHoles(byPlace.get(place)))
}

function put(root: Node, path: KeyPath, value: unknown): void {
  let node = root
  for (let at = 0; at < path.length - 1; at++) {
    const next = childOf(node, path[at] ?? '')
    if (isNode(next)) {
      node = next
      continue
    }
    const made = newNode(path[at + 1])
    setChild(node, path[at] ?? '', made)
    node = made
  }
  const last = path[path.length - 1] ?? ''
  if (childOf(node, last) === undefined) setChild(node, last, value)
}

/** Objects have no prototype, because clients choose their keys. */
function newNode(key: string | number | undefined): Node {
  return typeof key === 'number' ? [] : Object.create(null)
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null
}

function childOf(node: Node, key: string | number): unknown {
  return Array.isArray(node) ? (typeof key === 'number' ? node[key] : undefined) : node[key]
}

function setChild(node: Node, key: string | number, value: unknown): void {
  if (!Array.isArray(node)) node[key] = value
  else if (typeof key === 'number') node[key] = value
}

function withoutHoles(value: unknown): unknown {
  if (!isNode(value)) return value
  if (Array.isArray(value)) {
    return value.filter((item) => item !== undefined).map(withoutHoles)
  }
  for (const key of Object.keys(value)) value[key] = withoutHoles(value[key])
  return value
}
