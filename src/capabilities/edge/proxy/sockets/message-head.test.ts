import fc from 'fast-check'
import { expect, test } from 'vitest'
import { MessageHead } from './message-head.ts'

const member = fc.tuple(
  fc.constantFrom('type', 'stream_id', 'model', 'input', 'a"b', 'response'),
  fc.oneof(fc.jsonValue(), fc.constantFrom('response.create', 'error', 'x')),
)

/** Returns the first text of a name, as the reader has it: an empty or escaped one does not count. */
function firstText(members: readonly [string, unknown][], name: string): string {
  const found = members.find(([key, value]) => key === name && isPlain(value))
  return found === undefined ? '' : String(found[1])
}

function isPlain(value: unknown): boolean {
  return typeof value === 'string' && value !== '' && JSON.stringify(value) === `"${value}"`
}

/** Texts of other bytes are read byte by byte. */
const isAscii = (text: string) => /^[\x20-\x7e]*$/.test(text)

test('type and stream are those of the parsed object, in any pieces', () => {
  const property = fc.property(
    fc.uniqueArray(member, { selector: ([name]) => name }),
    fc.nat({ max: 20 }),
    fc.constantFrom(undefined, 1),
    (members, size, space) => {
      const text = JSON.stringify(Object.fromEntries(members), null, space)
      const [type, stream_id] = [firstText(members, 'type'), firstText(members, 'stream_id')]
      fc.pre(isAscii(type) && isAscii(stream_id) && !/\\/.test(type + stream_id))
      const head = new MessageHead({ wantsStream: true })
      const bytes = Buffer.from(text)
      for (let at = 0; at < bytes.length; at += size + 1) {
        head.push(bytes.subarray(at, at + size + 1))
      }
      const hasEscapes = members.some(
        ([name, value]) =>
          (name === 'type' || name === 'stream_id') && typeof value === 'string' && !isPlain(value),
      )
      fc.pre(!hasEscapes)
      expect([head.type, head.stream_id]).toEqual([type, stream_id])
    },
  )
  fc.assert(property)
})

test.each([
  ['{"type":"response.create","input":', 'response.create'],
  [' {\n"input": [{"type": "message"}], "type" : "error"', 'error'],
  ['{"input":"\\"type\\":\\"x\\"","type":"error"}', 'error'],
  ['[{"type":"error"}]', ''],
  ['"type"', ''],
  ['{"type":1}', ''],
  [`{"type":"${'x'.repeat(300)}"}`, ''],
  ['', ''],
])('%j has the type %j', (text, type) => {
  const head = new MessageHead({ wantsStream: false })
  head.push(Buffer.from(text))
  expect(head.type).toBe(type)
})
