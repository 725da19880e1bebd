import type { FieldRule, Source, ValueKind } from './contract-shape.ts'

type More = Omit<Source, 'from' | 'key' | 'keys' | 'event' | 'present'>

/** Returns sources for attributes of the span, in this order. */
export function attributes(...keys: string[]): Source[] {
  return keys.map((key) => ({ from: 'attribute', key }))
}

/** Returns a source for an attribute of the span, with options. */
export function attribute(key: string, more: More): Source {
  return { from: 'attribute', key, ...more }
}

/** Returns sources for each key: the attribute of the span, then that of its resource. */
export function attributesOrResource(...keys: string[]): Source[] {
  return keys.flatMap((key): Source[] => [
    { from: 'attribute', key },
    { from: 'resource', key },
  ])
}

/** Returns the rule of a field; the first usable source gives it. */
export function rule(reads: ValueKind, ...sources: (Source | Source[])[]): FieldRule {
  return { reads, sources: sources.flat() }
}

/** Returns the source of a default value. */
export function otherwise(gives: string): Source {
  return { from: 'constant', gives }
}

/**
 * Returns the name of a source in `mapped_from` and in explanations; it is unique within its field.
 */
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
