import { readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { kinds } from './kinds/index.ts'
import { commonReasons } from './ready-condition.ts'

const folder = 'src/operator'
const names = (await readdir(folder, { recursive: true })).filter(
  (name) => name.endsWith('.ts') && !name.endsWith('.test.ts'),
)
const sources = await Promise.all(
  names.map(async (name) => ({ name, text: await readFile(join(folder, name), 'utf8') })),
)

/** The words that stand where a reason of Ready is said. */
const said = sources.flatMap(({ name, text }) =>
  [
    ...text.matchAll(
      /(?:NotReady|ready|leave)\(\s*(?:'(?:Unknown|False)', |writer, )?'(?!Unknown|False)([A-Z]\w+)'/g,
    ),
  ].map(([, reason = '']) => ({
    reason,
    place: dirname(name),
  })),
)

test('reasons are words in CamelCase, each with a sentence', () => {
  for (const reasons of [commonReasons, ...kinds.map((kind) => kind.reasons ?? {})]) {
    for (const [reason, meaning] of Object.entries(reasons)) {
      expect(reason).toMatch(/^[A-Z][A-Za-z]+$/)
      expect(meaning).toMatch(/^.{9,}\.$/)
    }
  }
})

describe('every reason that the code says is documented', () => {
  test.each(said.map(({ reason, place }) => [reason, place] as const))('%s of %s', (reason) => {
    const known = [commonReasons, ...kinds.map((kind) => kind.reasons ?? {})]
    expect(known.flatMap((reasons) => Object.keys(reasons))).toContain(reason)
  })

  test('and the code says some', () => {
    expect(said.map(({ reason }) => reason)).toEqual(
      expect.arrayContaining(['ProjectNotFound', 'Conflict', 'Suspended', 'NotApplied']),
    )
  })
})
