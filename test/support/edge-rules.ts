import type { Rule } from '../../src/capabilities/incidents/index.ts'
import { loudRule } from './incident-records.ts'

/** When the value of a rule is above its threshold: from a slot until before another one. */
export type Edges = { from_ms: number; to_ms: number }

/**
 * Returns rules that are evaluated each second, each of which fires once and ends: one after the
 * other, two each second. Annotations say when, so that every process knows.
 */
export function edgeRules(count: number, start_ms: number): Rule[] {
  return Array.from({ length: count }, (_, i) => {
    const from_ms = start_ms + Math.floor(i / 2) * 1000
    return loudRule({
      ...{ name: `rule-${i}`, annotations: { edges: `${from_ms} ${from_ms + 2000}` } },
      ...{ delay: '0s', interval: '10s', notify: ['on-call', 'log'] },
    })
  }).map((rule) => ({ ...rule, interval: '1s' }))
}

/** Returns when a rule of `edgeRules` is true. */
export function edgesOf({ annotations }: Rule): Edges {
  const [from_ms = 0, to_ms = 0] = (annotations['edges'] ?? '').split(' ').map(Number)
  return { from_ms, to_ms }
}
