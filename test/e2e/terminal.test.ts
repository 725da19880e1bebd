import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { beginRole } from '../support/service.ts'
import { roleAtTerminal } from '../support/terminal.ts'

/** Output of role `all`, at a terminal and elsewhere. */
let directory: string
const parts = new AsyncDisposableStack()

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'looptrace-terminal-'))
  await chmod(directory, 0o711)
  parts.defer(() => rm(directory, { recursive: true }))
})
afterAll(() => parts.disposeAsync())

const env = (more: Record<string, string> = {}) => ({
  LOOPTRACE_DATA_DIRECTORY: join(directory, 'data'),
  LOOPTRACE_HTTP_PORT: '0',
  LOOPTRACE_MANAGEMENT_PORT: '0',
  LOOPTRACE_OTLP_GRPC_PORT: '0',
  ...more,
})
const patience = { timeout_ms: 110_000, interval_ms: 50 }

type Writer = { output(): string; stop(): Promise<number | null> }

/** The output before the greeting, and from the greeting on, once `sign` was printed. */
async function written(role: Writer, sign = 'Looptrace is ready.'): Promise<[string[], string]> {
  await eventually(sign, () => role.output().includes(sign), patience)
  expect(await role.stop()).toBe(0)
  const [before = '', after = ''] = role.output().split('\nLooptrace is ready.')
  return [before.trim().split('\n'), after]
}

const pretty = /^\d\d:\d\d:\d\d (INFO |WARN ) \S/
const escapeCharacter = '\u001b'

describe('at a terminal', () => {
  test('a first start reports its progress in a handful of lines, then greets', async () => {
    const [lines, rest] = await written(roleAtTerminal('all', env()), 'See the loop')
    expect(lines.length).toBeLessThanOrEqual(6)
    for (const line of lines) expect(stripVTControlCharacters(line)).toMatch(pretty)
    const text = stripVTControlCharacters(lines.join('\n'))
    expect(text).toContain('starting PostgreSQL and ClickHouse')
    expect(text).toContain('creating the data folder of PostgreSQL')
    expect(text).toMatch(/migrating PostgreSQL {2}migrations=\d+\n/)
    expect(text).toMatch(/migrating ClickHouse {2}migrations=\d+\n/)
    expect(lines[0]).toContain(escapeCharacter)
    expect(rest).not.toMatch(/^\{/m)
    // The link that signs in is one word, which a terminal can open.
    const [link, ...others] = rest.split('\n').toSorted((a, b) => b.length - a.length)
    expect(link).toMatch(/^ {2}Console {4}http:\S+\/sign-in#token=\w+$/)
    for (const line of others) {
      expect(stripVTControlCharacters(line).length, line).toBeLessThanOrEqual(80)
    }
  })

  test('NO_COLOR removes only colours', async () => {
    const [lines, rest] = await written(roleAtTerminal('all', env({ NO_COLOR: '1' })))
    for (const line of lines) expect(line).toMatch(pretty)
    expect(rest).not.toContain(escapeCharacter)
  })

  test('LOOPTRACE_LOG_FORMAT=json takes precedence', async () => {
    const [lines] = await written(roleAtTerminal('all', env({ LOOPTRACE_LOG_FORMAT: 'json' })))
    expect(lines.map((line) => JSON.parse(line).role)).toEqual(lines.map(() => 'all'))
  })
})

test('elsewhere LOOPTRACE_LOG_FORMAT=pretty takes precedence, without colours', async () => {
  const role = beginRole('all', env({ LOOPTRACE_LOG_FORMAT: 'pretty' }))
  const stop = () => {
    role.signal('SIGTERM')
    return role.ended
  }
  const [lines] = await written({ output: role.output, stop })
  for (const line of lines) expect(line).toMatch(pretty)
})
