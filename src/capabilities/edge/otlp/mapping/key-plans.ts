import { BoundedCache } from '../../../../kernel/bounded-cache.ts'
import type { CompiledContract, Target } from './compiled-contract.ts'
import { type KeyPath, keyPath } from './gathered-messages.ts'

/** The treatment of attributes with a certain key. */
export type KeyPlan = {
  readonly targets: readonly Target[]
  /** The gathers that collect it, with its location in them. */
  readonly gathers: readonly GatherPlace[]
  /** True for content, which is removed from the attributes. */
  readonly is_content: boolean
  /** Its name as a label of the client; '' for other attributes. */
  readonly metadata_key: string
  /** Why it is refused; '' when it is accepted. */
  readonly refused: '' | 'forbidden_key' | 'credential_key' | 'index_too_large'
  /** True for an attribute that is only kept, as most are. */
  readonly is_plain: boolean
  /** True when it stays an attribute: no content, label or baggage. */
  readonly is_kept: boolean
  /** True for keys that begin with `baggage.`. */
  readonly is_baggage: boolean
}
export type GatherPlace = { gather: number; place: number; path: KeyPath }

/** Returns the plan of a key; the same object while it is remembered. */
export type KeyPlans = (key: string) => KeyPlan

/** Maximum plans remembered. A program uses few keys. */
const plans_max = 20_000
/** Plans of longer keys are not remembered. */
const key_chars_max = 256

export function createKeyPlans(compiled: CompiledContract): KeyPlans {
  const known = new BoundedCache<string, KeyPlan>(plans_max)
  const contents = contentKeys(compiled)
  return (key) => {
    const remembered = known.get(key)
    if (remembered !== undefined) return remembered
    const plan = planOf(key, compiled, contents)
    if (key.length > key_chars_max) return plan
    known.set(key, plan)
    return plan
  }
}

const contentKinds = new Set(['content', 'tool_calls', 'tool_results'])

/** Returns the keys that give content to a field. */
function contentKeys({ contract }: CompiledContract): Set<string> {
  const rules = { ...contract.trace_level.fields, ...contract.span_level.fields }
  const sources = Object.values(rules)
    .filter(({ reads }) => contentKinds.has(reads))
    .flatMap((rule) => rule.sources)
  const keys = sources.flatMap((source) => {
    if (source.from === 'attribute') return [source.key]
    return source.from === 'attributes' ? source.keys : []
  })
  return new Set(keys)
}

const noPlan = {
  targets: [],
  gathers: [],
  is_content: false,
  metadata_key: '',
  is_kept: false,
} as const

function planOf(key: string, compiled: CompiledContract, contents: Set<string>): KeyPlan {
  const { contract } = compiled
  if (isForbidden(key, contract.limits.forbidden_keys)) {
    return { ...noPlan, refused: 'forbidden_key', is_plain: false, is_baggage: false }
  }
  if (isCredential(key, contract.limits.credential_keys)) {
    return { ...noPlan, refused: 'credential_key', is_plain: false, is_baggage: false }
  }
  const gathers = gathersOf(key, compiled)
  if (gathers === 'index_too_large') {
    return { ...noPlan, refused: gathers, is_plain: false, is_baggage: false }
  }
  const { metadata_prefixes, content_prefixes } = contract.span_level
  const exact = compiled.attributes.get(key) ?? []
  const prefixed = compiled.prefixes.filter(({ prefix }) => key.startsWith(prefix))
  const targets = [...exact, ...prefixed.map(({ target }) => target)]
  const prefix = metadata_prefixes.find((one) => key.startsWith(one) && key.length > one.length)
  const metadata_key = exact.length > 0 || prefix === undefined ? '' : key.slice(prefix.length)
  const is_content = contents.has(key) || content_prefixes.some((one) => key.startsWith(one))
  const is_baggage = key.startsWith('baggage.')
  const is_kept = !is_content && metadata_key === '' && !is_baggage
  const is_plain = targets.length + gathers.length === 0 && is_kept
  return { targets, gathers, is_content, metadata_key, refused: '', is_plain, is_kept, is_baggage }
}

function isForbidden(key: string, forbidden: readonly string[]): boolean {
  const mayBe = forbidden.some((word) => key.includes(word))
  return mayBe && key.split('.').some((part) => forbidden.includes(part))
}

/**
 * Returns true for keys such as `http.request.header.authorization` and
 * `ai.request.headers.Authorization`.
 */
function isCredential(key: string, credentials: readonly string[]): boolean {
  return credentials.includes(key.slice(key.lastIndexOf('.') + 1).toLowerCase())
}

function gathersOf(key: string, { gathers, contract }: CompiledContract) {
  const places: GatherPlace[] = []
  for (const [gather, { kind, keys, without }] of gathers.entries()) {
    if (kind === 'attributes' && keys.includes(key)) {
      places.push({ gather, place: keys.indexOf(key), path: [] })
    }
    const [prefix = ''] = keys
    if (kind !== 'indexed' || !key.startsWith(`${prefix}.`)) continue
    const indexed = indexedPlace(key.slice(prefix.length + 1), contract.limits.index_end)
    if (indexed === 'index_too_large') return indexed
    const last = key.slice(key.lastIndexOf('.') + 1)
    if (indexed !== undefined && !without.includes(last)) places.push({ gather, ...indexed })
  }
  return places
}

function indexedPlace(rest: string, index_end: number) {
  const [, digits, path = ''] = /^(\d+)(?:\.(.*))?$/s.exec(rest) ?? []
  if (digits === undefined) return undefined
  const place = Number(digits)
  const steps = keyPath(path, index_end)
  return place >= index_end || steps === undefined ? 'index_too_large' : { place, path: steps }
}
