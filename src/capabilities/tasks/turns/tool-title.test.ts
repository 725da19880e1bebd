import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fuzzRuns } from '../../../../test/support/suite/budget.ts'
import { titleOfTool } from './tool-title.ts'

test.each([
  [
    'search',
    { limit: 5, query: 'refund for a cracked hopper' },
    'search: refund for a cracked hopper',
  ],
  ['Bash', { command: 'npm test\n  -- --run', timeout: 9 }, 'Bash: npm test -- --run'],
  ['shell', { command: ['bash', '-lc', 'ls src'] }, 'shell: bash -lc ls src'],
  ['Read', { file_path: 'src/app.ts', offset: 10 }, 'Read: src/app.ts'],
  ['open', { filePath: 'a.md' }, 'open: a.md'],
  ['get_order', { verbose: true, order_id: 'A-1007' }, 'get_order: A-1007'],
  ['get_order', { 'order-id': 1007 }, 'get_order: 1007'],
  ['send_mail', { body: 'Dear…', to: 'ann@example.org', subject: 'Refund' }, 'send_mail: Refund'],
  ['wait', { seconds: 5 }, 'wait: seconds 5'],
  ['set', { enabled: false }, 'set: enabled false'],
  ['note', { mood: 'glad' }, 'note: glad'],
  ['call', { input: { query: 'deep' } }, 'call: deep'],
  ['look', {}, 'look'],
  ['look', { query: '  ' }, 'look'],
  ['look', [], 'look'],
  ['', { query: 'x' }, 'x'],
])('%s %j is titled by its main argument', (name, args, title) => {
  expect(titleOfTool(name, JSON.stringify(args))).toBe(title)
})

test('arguments that are plain text, cut or unknown', () => {
  expect(titleOfTool('python', 'print(1)\nprint(2)')).toBe('python: print(1) print(2)')
  expect(titleOfTool('say', '"hello"')).toBe('say: hello')
  expect(titleOfTool('write', '{"content":"a long \\"text\\" with no en')).toBe(
    'write: a long "text" with no en',
  )
  expect(titleOfTool('write', '{"limit":3,"path":"a.ts","content":"never en')).toBe('write: a.ts')
  expect(titleOfTool('look', null)).toBe('look')
  expect(titleOfTool('look', '')).toBe('look')
})

test('a long argument is cut with an ellipsis, and never within a character', () => {
  const title = titleOfTool('search', JSON.stringify({ query: '😀'.repeat(200) }))
  expect(title).toMatch(/^search: .{40,100}…$/su)
  expect(title.isWellFormed()).toBe(true)
})

test('any arguments give one short line that begins with the name', () => {
  const anyArguments = fc.oneof(
    fc.json(),
    fc.string(),
    fc.json().map((text) => text.slice(0, 30)),
  )
  fc.assert(
    fc.property(anyArguments, (args) => {
      const title = titleOfTool('tool', args)
      expect(title.startsWith('tool')).toBe(true)
      expect(title.length).toBeLessThanOrEqual(110)
      expect(title).not.toMatch(/[\n\r\t]/)
      expect(titleOfTool('tool', args)).toBe(title)
    }),
    { numRuns: fuzzRuns(400) },
  )
})
