import { BoundedCache } from '../../../../kernel/bounded-cache.ts'
import type { CompiledContract } from './compiled-contract.ts'
import { noSource, notes, type SpanState } from './span-state.ts'

/** Returns the `mapped_from` of the current span. */
export type MappedFrom = (state: SpanState) => string

/** Maximum patterns remembered. A program produces few. */
const patterns_max = 4_096

type Pattern = { words: Int32Array; text: string }

/**
 * Makes the writer of `mapped_from`, which records the source of each field:
 * `model=gen_ai.response.model;input=…|lost:llm.model_name|…`. `lost` lists sources that were
 * present and gave nothing; `default` and `cut` list fields. Equal patterns share one text, so that
 * the column has few values.
 */
export function createMappedFrom(compiled: CompiledContract): MappedFrom {
  const known = new BoundedCache<number, Pattern>(patterns_max)
  return ({ words }) => {
    const hash = hashOf(words)
    const remembered = known.get(hash)
    if (remembered !== undefined && isSame(remembered.words, words)) return remembered.text
    const text = patternText(compiled, words)
    known.set(hash, { words: words.slice(), text })
    return text
  }
}

function hashOf(words: Int32Array): number {
  let hash = 0x811c_9dc5 | 0
  for (let at = 0; at < words.length; at++) {
    hash = Math.imul(hash ^ (words[at] ?? 0), 0x0100_0193)
    hash ^= hash >>> 15
  }
  return hash
}

function isSame(a: Int32Array, b: Int32Array): boolean {
  for (let at = 0; at < a.length; at++) if (a[at] !== b[at]) return false
  return true
}

function patternText({ fields }: CompiledContract, words: Int32Array): string {
  const given: string[] = []
  const lost = new Set<string>()
  for (const [at, { name, sources }] of fields.entries()) {
    const rank = words[at] ?? noSource
    const winner = sources[rank]
    if (winner && !winner.is_default) given.push(`${name}=${winner.name}`)
    const losers = sources.filter(
      (source, place) => place !== rank && wasPresent(words, fields.length, source.hit),
    )
    for (const loser of losers) lost.add(loser.name)
  }
  const parts = [given.join(';')]
  if (lost.size > 0) parts.push(`lost:${[...lost].join(',')}`)
  return [...parts, ...notedParts(words[words.length - 1] ?? 0)].join('|')
}

function notedParts(noted: number): string[] {
  return Object.entries(noteSections).flatMap(([section, names]) => {
    const found = names.filter((name) => (noted & noteBits[name]) !== 0)
    return found.length === 0 ? [] : [`${section}:${found.join(',')}`]
  })
}

/** Returns true if the source with this hit was present in the span. */
export function wasPresent(words: Int32Array, first: number, hit: number): boolean {
  return hit >= 0 && ((words[first + (hit >> 5)] ?? 0) & (1 << (hit & 31))) !== 0
}

const noteBits = {
  start_time: notes.start_time,
  end_time: notes.end_time,
  input: notes.input_cut,
  output: notes.output_cut,
  usage_semantics: notes.usage_semantics,
} as const

const noteSections = {
  default: ['start_time', 'end_time'],
  cut: ['input', 'output'],
  implied: ['usage_semantics'],
} as const satisfies Record<string, readonly (keyof typeof noteBits)[]>

/** The parts of a `mapped_from`. */
export type ReadMappedFrom = {
  /** The source of each field. */
  given: Map<string, string>
  lost: string[]
  defaults: string[]
  cut: string[]
  implied: string[]
}

/** Parses a `mapped_from`; an invalid text gives empty parts. */
export function readMappedFrom(text: string): ReadMappedFrom {
  const [given = '', ...sections] = text.split('|')
  const listOf = (section: string) => {
    const found = sections.find((one) => one.startsWith(`${section}:`))
    return found === undefined ? [] : found.slice(section.length + 1).split(',')
  }
  const pairs = given.split(';').filter((pair) => pair.includes('='))
  return {
    given: new Map(pairs.map((pair) => splitAt(pair, pair.indexOf('=')))),
    lost: listOf('lost'),
    defaults: listOf('default'),
    cut: listOf('cut'),
    implied: listOf('implied'),
  }
}

function splitAt(text: string, at: number): [string, string] {
  return [text.slice(0, at), text.slice(at + 1)]
}
