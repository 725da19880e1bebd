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

/** How `mapped_from` and explanations name a source; unique within its field. */
export function sourceName(source: Source): string {
  const { path, only, of_types, with_event } = source
  const step = path === undefined ? '' : `#${path.join('.')}`
  const type = of_types === undefined ? '' : `@${of_types.join('+')}`
  const event = with_event === undefined ? '' : `+${with_event}`
  const value = source.from === 'attribute' && only !== undefined ? `[${only.join('+')}]` : ''
  return `${placeName(source)}${step}${value}${type}${event}`
}

function placeName(source: Source): string {
  switch (source.from) {
    case 'attribute':
      return source.key
    case 'attributes':
      return source.keys.join('+')
    case 'indexed':
      return `${source.key}.N`
    case 'prefix':
      return `${source.key}*`
    case 'resource':
    case 'scope':
    case 'span':
    case 'request':
      return `${source.from}:${source.key}`
    case 'event':
      return source.key === '' ? `event:${source.event}` : `event:${source.event}#${source.key}`
    case 'events':
      return `events:${source.event}`
    case 'fields':
      return `fields:${source.present.join('+')}`
    case 'constant':
      return 'constant'
  }
}
