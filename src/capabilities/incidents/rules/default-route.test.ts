import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type ended, fired, loudRule } from '../../../../test/support/incident-records.ts'
import { severities } from '../../../model/severity.ts'
import { recordTransition } from '../life-cycle/record-transition.ts'
import {
  type DefaultRoute,
  defaultRouteShape,
  routedChannels,
  unroutedSeverities,
} from './default-route.ts'

const routeOf = (...matches: object[]): DefaultRoute => defaultRouteShape.parse({ matches })
const route = routeOf(
  { min_severity: 'critical', labels: { team: 'pay*' }, notify: ['pay-pager'] },
  { min_severity: 'high', notify: ['pager'] },
  { notify: ['chat'] },
)
const silentRule = (change: object = {}) => loudRule({ notify: [], ...change })

describe('the default route', () => {
  test.each([
    ['critical', { team: 'payments' }, ['pay-pager']],
    ['critical', { team: 'search' }, ['pager']],
    ['critical', {}, ['pager']],
    ['high', { team: 'payments' }, ['pager']],
    ['medium', { team: 'payments' }, ['chat']],
  ] as const)('of %s with %j', (severity, labels, channels) => {
    expect(routedChannels(silentRule({ labels }), severity, route)).toEqual(channels)
  })

  test('does not apply to rules with channels, nor to shadow rules', () => {
    expect(routedChannels(loudRule({ notify: ['mine'] }), 'critical', route)).toEqual(['mine'])
    expect(routedChannels(silentRule({ mode: 'shadow' }), 'critical', route)).toEqual([])
    expect(routedChannels(silentRule(), 'critical', undefined)).toEqual([])
  })

  test('is that of a model that tries each match on each label', () => {
    const name = fc.constantFrom('team', 'tier')
    const value = fc.constantFrom('a', 'ab', 'b')
    const pattern = fc.constantFrom('a', 'a*', '*', 'b')
    const match = fc.record({
      min_severity: fc.constantFrom(...severities),
      labels: fc.dictionary(name, pattern, { maxKeys: 2 }),
      notify: fc.constantFrom(['one'], ['two'], ['three']),
    })
    const globs: Record<string, (text: string) => boolean> = {
      a: (text) => text === 'a',
      b: (text) => text === 'b',
      'a*': (text) => text.startsWith('a'),
      '*': () => true,
    }
    fc.assert(
      fc.property(
        ...([
          fc.array(match, { maxLength: 4 }),
          fc.dictionary(name, value, { maxKeys: 2 }),
        ] as const),
        fc.constantFrom(...severities),
        (matches, labels, severity) => {
          const expected: string[] = []
          for (const one of matches.toReversed()) {
            const isSevere = severities
              .slice(severities.indexOf(one.min_severity))
              .includes(severity)
            const isLabelled = Object.entries(one.labels).every(
              ([key, glob]) => labels[key] !== undefined && globs[glob]?.(labels[key]),
            )
            if (isSevere && isLabelled) expected.splice(0, expected.length, ...one.notify)
          }
          const found = routedChannels(silentRule({ labels }), severity, routeOf(...matches))
          expect(found).toEqual(expected)
        },
      ),
      { numRuns: 500 },
    )
  })

  test('names the severities of a rule without a channel', () => {
    const onlyHigh = routeOf({ min_severity: 'high', notify: ['pager'] })
    expect(unroutedSeverities(silentRule({ severity: 'low' }), onlyHigh)).toEqual(['low'])
    expect(unroutedSeverities(silentRule({ severity: 'high' }), onlyHigh)).toEqual([])
    expect(unroutedSeverities(silentRule({ severity: 'high' }), undefined)).toEqual(['high'])
  })
})

describe('an incident of a rule without channels', () => {
  const contribute = (transition: ReturnType<typeof fired | typeof ended>, given = route) => ({
    ...{ rule: silentRule(), group: '{}', dedup_key: 'key', at_ms: 0, transition, route: given },
  })

  test('is announced to those of its severity, and to those of a raised one as well', () => {
    const low = { ...fired(0), severity: 'low' } as const
    const opened = recordTransition(undefined, contribute(low))
    expect(opened?.incident.notify).toEqual(['chat'])
    const raise = { type: 'raised', slot_ms: 60_000, severity: 'critical', tier: 14.4 } as const
    const raised = recordTransition(opened?.incident, { ...contribute(low), transition: raise })
    expect(raised?.incident.notify).toEqual(['chat', 'pager'])
  })

  test('without a route has no channels', () => {
    const given = { ...contribute(fired(0)), route: undefined }
    expect(recordTransition(undefined, given)?.incident.notify).toEqual([])
  })
})
