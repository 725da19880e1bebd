import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { toJsonLine } from '../../../kernel/json-lines.ts'
import { createDetail } from './commitment.ts'
import { readExportedRecord } from './exported-record.ts'
import { emptyHead, linkRecord } from './record.ts'

const hash = 'a'.repeat(64)
const texts = fc.string({ unit: 'grapheme' })
const read = fc.record({
  ...{ read_at: texts, action: texts, actor_kind: fc.constant('user' as const), actor_id: texts },
  ...{ via: fc.constant('api' as const), resource_type: texts, resource_id: fc.option(texts) },
  ...{ project_id: fc.option(texts), request_id: texts, origin_hash: fc.constant(hash) },
  details: fc.constantFrom({}, { origin: createDetail({ address: '192.0.2.1' }) }),
})
const line = fc.record({
  ...{ action: texts, actor_id: fc.option(texts), resource_id: fc.option(texts) },
  reads: fc.option(fc.array(read, { maxLength: 3 }), { nil: undefined }),
  suppressed: fc.nat(),
})

type Line = { action: string; actor_id: string | null; resource_id: string | null } & {
  reads: object[] | undefined
  suppressed: number
}

function exported({ reads, ...given }: Line) {
  const record = linkRecord(
    {
      ...{ chain_id: 'c', recorded_at: '2026-11-29T00:00:00.000Z', outcome: 'succeeded' },
      ...{ code: null, actor_kind: 'user', via: 'api', resource_type: 'r', project_id: null },
      ...{ request_id: 'q', segment_count: null, segment_hash: null },
      ...{ origin_hash: hash, change_hash: null, ...given },
    },
    emptyHead,
  )
  const details = { origin: createDetail({ user_agent: 'a "quoted" \\ agent' }) }
  return { ...record, details, ...(reads !== undefined && { reads }) }
}

test('the lines of an export are read as they are', () => {
  fc.assert(
    fc.property(line, (given) => {
      const record = exported(given)
      expect(readExportedRecord(toJsonLine(record))).toEqual(record)
      expect(readExportedRecord(JSON.stringify(record, undefined, 2))).toEqual(record)
    }),
  )
})

describe('a line is refused', () => {
  const honest = exported({
    ...{ action: 'createApiKey', actor_id: 'ada', resource_id: 'a "b" \\', suppressed: 0 },
    reads: undefined,
  })
  const { origin } = honest.details
  test.each<[string, object]>([
    ['an unknown field', { actor_name: 'eve' }],
    ['a field in another case', { Action: 'deleteProject' }],
    ['the address beside its details', { origin: { address: '192.0.2.9', user_agent: null } }],
    ['an unknown detail', { details: { origin, note: origin } }],
    ['an unknown field of a detail', { details: { origin: { ...origin, address: '192.0.2.9' } } }],
    ['a list that has the text of a text', { action: ['createApiKey'] }],
    ['a text that has the digits of a number', { suppressed: '0' }],
    ['half of a surrogate pair', { action: 'a\ud800' }],
    ['an outcome that does not exist', { outcome: 'hidden' }],
    ['reads with unknown fields', { reads: [{ action: 'getTrace', actor_id: 'ada' }] }],
  ])('for %s', (_name, more) => {
    expect(readExportedRecord(toJsonLine(honest))).toBeDefined()
    expect(readExportedRecord(toJsonLine({ ...honest, ...more }))).toBeUndefined()
  })

  test('for each field that is missing', () => {
    for (const name of Object.keys(honest)) {
      const rest = Object.fromEntries(Object.entries(honest).filter(([key]) => key !== name))
      expect([name, readExportedRecord(toJsonLine(rest))]).toEqual([name, undefined])
    }
  })

  test('for a repeated field, of which readers show the first or the last', () => {
    const text = JSON.stringify(honest)
    for (const [name, value] of Object.entries(honest)) {
      const repeated = `{${JSON.stringify(name)}:${JSON.stringify(value)},${text.slice(1)}`
      expect([name, readExportedRecord(repeated)]).toEqual([name, undefined])
    }
    expect(readExportedRecord(text.replace('"salt"', '"salt":"","salt"'))).toBeUndefined()
  })
})
