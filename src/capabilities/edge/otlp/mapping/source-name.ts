import type { Source } from './contracts/contract-shape.ts'

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
