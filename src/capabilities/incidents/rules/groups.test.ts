import { describe, expect, test } from 'vitest'
import { dedupKey } from './dedup-key.ts'
import { boundedGroup, boundedText, groupKey } from './groups.ts'

const size = (text: string) => Buffer.byteLength(JSON.stringify(text))

describe('texts of payloads in keys', () => {
  test('short text is not changed; characters that no database stores are replaced', () => {
    expect(boundedText('gpt-5 é 😀', 400)).toBe('gpt-5 é 😀')
    expect(boundedText('a\u0000b\ud800', 400)).toBe('a\ufffdb\ufffd')
  })

  test.each(['x', '\u0001', '"', '😀'])('many %j are bounded and remain different', (char) => {
    const [one, other] = [char.repeat(5000), `${char.repeat(5000)}!`]
    expect(size(boundedText(one, 400))).toBeLessThanOrEqual(400)
    expect(boundedText(one, 400)).not.toBe(boundedText(other, 400))
    expect(boundedText(boundedText(one, 400), 400)).toBe(boundedText(one, 400))
  })

  test('keys of groups and incidents fit in an index of PostgreSQL: 2,704 bytes', () => {
    const long = '\u0001'.repeat(1000)
    const group = boundedGroup({ model: long, task_name: `${long}a`, release: `${long}b` })
    const rule = { name: 'r'.repeat(63), group_by: [], labels: { l: '😀'.repeat(128) } }
    const dedup_key = '{{labels.l}}'.repeat(16)
    expect(size(groupKey(group))).toBeLessThan(2000)
    expect(size(dedupKey({ ...rule, dedup_key: undefined }, group))).toBeLessThan(2500)
    expect(size(dedupKey({ ...rule, dedup_key }, group))).toBeLessThan(2500)
  })
})
