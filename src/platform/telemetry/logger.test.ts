import { stripVTControlCharacters } from 'node:util'
import { describe, expect, test } from 'vitest'
import { prettyLine } from './logger.ts'

const plain = (_style: unknown, text: string) => text
const at = new Date(2026, 10, 22, 9, 5, 7).toISOString()

function shown(fields: object): string {
  return prettyLine(JSON.stringify({ level: 'info', time: at, msg: 'ready', ...fields }), plain)
}

describe('a pretty line', () => {
  test('has the local time, the level, the message and the fields', () => {
    expect(shown({ http_port: 8080, name: 'a b', ok: true, none: null })).toBe(
      '09:05:07 INFO  ready  http_port=8080 name="a b" ok=true none=null\n',
    )
  })

  test('omits the role, which is the same in every line of a process', () => {
    expect(shown({ role: 'all' })).toBe('09:05:07 INFO  ready\n')
  })

  test('shows fields without a message', () => {
    expect(shown({ msg: undefined, postgres: 'LOG:  up' })).toBe(
      '09:05:07 INFO  postgres="LOG:  up"\n',
    )
  })

  test('shows the message of an error, and its stack at level error', () => {
    const err = {
      type: 'Error',
      message: 'it broke',
      stack: 'Error: it broke\n    at a (b.ts:1:2)',
    }
    expect(shown({ level: 'warn', err })).toBe('09:05:07 WARN  ready  err="it broke"\n')
    expect(shown({ level: 'error', err })).toBe(
      '09:05:07 ERROR ready  err="it broke"\n    at a (b.ts:1:2)\n',
    )
  })

  test('colours the level by its severity', () => {
    const styles: unknown[] = []
    const line = JSON.stringify({ level: 'warn', time: at, msg: 'm' })
    prettyLine(line, (style, text) => {
      styles.push([style, text])
      return text
    })
    expect(styles).toContainEqual(['yellow', 'WARN '])
  })

  test.each([
    ['an escape', '\u001b[2J\u001b]0;owned\u0007'],
    ['a C1 control', '\u009b2J'],
    ['a carriage return', 'all well\rlooptrace is stopped'],
    ['a line feed', 'x\n09:05:07 ERROR the disk is full'],
    ['text that turns around', '\u202etxt.exe'],
  ])('sends no %s from a payload to the terminal', (_name, payload) => {
    const err = { message: payload, stack: `Error: ${payload}\n    at ${payload} (x.ts:1:2)` }
    const line = shown({ level: 'error', msg: payload, task_id: payload, [payload]: 1, err })
    expect(stripVTControlCharacters(line)).toBe(line)
    expect(line).not.toMatch(/[^\n\P{Cc}]|[\u202a-\u202e\u2066-\u2069]/u)
    expect(line.split('\n').filter((part) => /^\d\d:/.test(part))).toHaveLength(1)
  })

  test('cuts long values', () => {
    expect(shown({ body: 'x'.repeat(100_000) }).length).toBeLessThan(2_000)
  })

  test('passes on a line that is not JSON', () => {
    expect(prettyLine('plain words\n', plain)).toBe('plain words\n')
  })
})
