import { describe, expect, test } from 'vitest'
import { type Command, NoAnswer, type Run } from './command.ts'
import { cliCommands } from './commands.ts'
import { helpOf, overviewOf } from './help-text.ts'
import { commandOf, runCommand } from './run-command.ts'

/** A command with each kind of option that calls `run`. */
function commandThat(run: Run): Command {
  return {
    words: 'try',
    summary: 'Tries something',
    synopsis: '<what>',
    about: ['More about it.'],
    options: {
      loud: { short: 'l', about: 'Be loud.' },
      name: { short: 'n', value: '<name>', about: 'A name.' },
      file: { short: 'f', value: '<path>', multiple: true, about: 'Files.' },
      form: { value: '<form>', choices: ['a', 'b'], about: 'A form.' },
    },
    words_min: 1,
    words_max: 2,
    examples: [{ command: 'looptrace try this', about: 'this' }],
    statuses: { 0: 'It went well.' },
    load: async () => run,
  }
}

/** Runs a command and returns its status and output. */
async function ran(command: Command, args: readonly string[]) {
  const printed = { out: '', err: '' }
  const status = await runCommand(command, args, {
    out: (text) => {
      printed.out += text
    },
    err: (text) => {
      printed.err += text
    },
    styled: (_style, text) => text,
    columns: () => undefined,
    time_zone: 'UTC',
    stdin: async () => '',
    now_ms: () => 0,
    stop: new AbortController().signal,
  })
  return { status, ...printed }
}

const echo = commandThat(async ({ words, flag, value, values }, io) => {
  io.out(JSON.stringify([words, flag('loud'), value('name'), values('file'), value('form')]))
  return 1
})

test.each<[string[], unknown[]]>([
  [['x'], [['x'], false, null, [], null]],
  [
    ['x', 'y', '-l'],
    [['x', 'y'], true, null, [], null],
  ],
  [
    ['x', '--name', 'n', '--form=b'],
    [['x'], false, 'n', [], 'b'],
  ],
  [
    ['-f', 'a', 'x', '--file', 'b'],
    [['x'], false, null, ['a', 'b'], null],
  ],
  [
    ['--', '-x'],
    [['-x'], false, null, [], null],
  ],
])('%j is parsed', async (args, expected) => {
  const { status, out, err } = await ran(echo, args)
  expect([status, JSON.parse(out), err]).toEqual([1, expected, ''])
})

test.each([
  [[], 'expected <what>'],
  [['x', 'y', 'z'], 'got "z", expected no further argument'],
  [['x', '--form', 'c'], '--form: got "c", expected one of a, b'],
  [['x', '--quiet'], "Unknown option '--quiet'"],
  [['x', '--name'], "'-n, --name <value>' argument missing"],
  [['x', '--loud=yes'], "'-l, --loud' does not take an argument"],
])('%j is a usage error with status 2', async (args, message) => {
  const { status, out, err } = await ran(echo, args)
  expect([status, out]).toEqual([2, ''])
  expect(err).toContain('looptrace try: ')
  expect(err).toContain(message)
  expect(err).toContain('See: looptrace try --help')
})

test('a missing answer has status 3, and a defect rejects', async () => {
  const dead = commandThat(() => Promise.reject(new NoAnswer('no server')))
  expect(await ran(dead, ['x'])).toEqual({
    status: 3,
    out: '',
    err: 'looptrace try: no server\n',
  })
  const broken = commandThat(() => Promise.reject(new TypeError('oh')))
  await expect(ran(broken, ['x'])).rejects.toThrow('oh')
})

test('--help prints the help, even with invalid arguments', async () => {
  const { status, out } = await ran(echo, ['--help'])
  expect(status).toBe(0)
  expect(out).toBe(helpOf(echo))
  for (const word of [
    'usage: looptrace try <what>',
    '-f, --file <path>',
    'One of a, b.',
    '# this',
  ]) {
    expect(out).toContain(word)
  }
})

test('the longest words name the command', () => {
  const one = { ...echo, words: 'migrate' }
  const two = { ...echo, words: 'migrate check' }
  expect(commandOf([one, two], ['migrate', 'check', '-x'])).toEqual({ command: two, args: ['-x'] })
  expect(commandOf([one, two], ['migrate', '-x'])).toEqual({ command: one, args: ['-x'] })
  expect(commandOf([one, two], ['move'])).toBeUndefined()
})

describe.each(cliCommands.map((command) => [command.words, command] as const))(
  '%s',
  (_, command) => {
    test('has examples that parse, and describes its exit statuses', async () => {
      expect(command.examples.length).toBeGreaterThan(0)
      expect(Object.keys(command.statuses)).toContain('0')
      for (const { command: line } of command.examples) {
        const words = line.slice(line.indexOf('looptrace ')).split(' ').slice(1)
        const found = commandOf(cliCommands, words)
        expect(found?.command.words).toBe(command.words)
        const noted: Command = { ...command, load: async () => async () => 0 }
        expect(await ran(noted, found?.args ?? [])).toEqual({ status: 0, out: '', err: '' })
      }
    })

    test('is in the overview, with a summary that fits on one line', () => {
      expect(overviewOf(cliCommands, [])).toContain(`  ${command.words} `)
      expect(command.summary).toMatch(/^[A-Z].{9,69}[^.]$/)
    })
  },
)
