import { readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { kinds } from './kinds/index.ts'
import { commonReasons, progressOf, withProgress } from './ready-condition.ts'

const root = 'src/operator'
const names = (await readdir(root, { recursive: true })).filter(
  (name) => name.endsWith('.ts') && !name.endsWith('.test.ts'),
)
const sources = await Promise.all(
  names.map(async (name) => ({ name, text: await readFile(join(root, name), 'utf8') })),
)

/** The reasons of Ready in the code. */
const reasonsInCode = sources.flatMap(({ name, text }) =>
  [
    ...text.matchAll(
      /(?:(?:NotReady|readyCondition|skip)\(\s*(?:'(?:Unknown|False)', |run, )?|refused: )'(?!Unknown|False)([A-Z]\w+)'/g,
    ),
  ].map(([, reason = '']) => ({
    reason,
    folder: dirname(name),
  })),
)

test('reasons are CamelCase and have a sentence each', () => {
  for (const reasons of [commonReasons, ...kinds.map((kind) => kind.reasons ?? {})]) {
    for (const [reason, meaning] of Object.entries(reasons)) {
      expect(reason).toMatch(/^[A-Z][A-Za-z]+$/)
      expect(meaning).toMatch(/^.{9,}\.$/)
    }
  }
})

describe('every reason in the code is documented', () => {
  test.each(reasonsInCode.map(({ reason, folder }) => [reason, folder] as const))(
    '%s of %s',
    (reason) => {
      const known = [commonReasons, ...kinds.map((kind) => kind.reasons ?? {})]
      expect(known.flatMap((reasons) => Object.keys(reasons))).toContain(reason)
    },
  )

  test('the search finds reasons', () => {
    expect(reasonsInCode.map(({ reason }) => reason)).toEqual(
      expect.arrayContaining([
        ...['ProjectNotFound', 'Conflict', 'Suspended', 'NotApplied', 'NotGranted'],
      ]),
    )
  })
})

test.each([
  ['True', 'Synced', undefined],
  ['Unknown', 'Pending', 'Reconciling'],
  ['Unknown', 'Reconciling', 'Reconciling'],
  ['Unknown', 'Suspended', undefined],
  ['Unknown', 'Paused', undefined],
  ['False', 'ServiceUnavailable', 'Reconciling'],
  ['False', 'NotApplied', 'Reconciling'],
  ['False', 'InternalError', 'Reconciling'],
  ['False', 'Waiting', 'Reconciling'],
  ['False', 'Conflict', 'Stalled'],
  ['False', 'NotGranted', 'Stalled'],
  ['False', 'ServiceRefused', 'Stalled'],
  // The kind reports it after a user ended the use of the resource.
  ['False', 'Suspended', 'Stalled'],
] as const)('with Ready %s %s the condition of kstatus is %s', (status, reason, type) => {
  const kind = { temporary_reasons: ['Waiting'] }
  expect(progressOf(kind, { status, reason })).toBe(type)
  const ready = { type: 'Ready', status, reason, message: 'why' }
  const expected = type === undefined ? [] : [{ type, status: 'True', reason, message: 'why' }]
  expect(withProgress(kind, [ready])).toEqual([ready, ...expected])
})

test('a status without Ready gets no condition', () => {
  expect(withProgress({}, [])).toEqual([])
})

test('temporary reasons of a kind are among its reasons', () => {
  for (const { reasons = {}, temporary_reasons = [] } of kinds) {
    expect(Object.keys(reasons)).toEqual(expect.arrayContaining([...temporary_reasons]))
  }
  expect(kinds.flatMap(({ temporary_reasons = [] }) => temporary_reasons)).not.toEqual([])
})
