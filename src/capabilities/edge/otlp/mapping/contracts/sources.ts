import type { FieldRule, Source, ValueKind } from './contract-shape.ts'

type More = Omit<Source, 'from' | 'key' | 'keys' | 'event' | 'present'>

/** Attributes of the span, in this order. */
export function attributes(...keys: string[]): Source[] {
  return keys.map((key) => ({ from: 'attribute', key }))
}

/** An attribute of the span, read in some way. */
export function attribute(key: string, more: More): Source {
  return { from: 'attribute', key, ...more }
}

/** For each key the attribute of the span, then that of its resource. */
export function attributesOrResource(...keys: string[]): Source[] {
  return keys.flatMap((key): Source[] => [
    { from: 'attribute', key },
    { from: 'resource', key },
  ])
}

/** A field and its sources, first hit wins. */
export function rule(reads: ValueKind, ...sources: (Source | Source[])[]): FieldRule {
  return { reads, sources: sources.flat() }
}

/** What holds when nothing was said. */
export function otherwise(gives: string): Source {
  return { from: 'constant', gives }
}
