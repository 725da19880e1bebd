import { describe, expect, test } from 'vitest'
import { commandOf, runCommand } from '../cli/index.ts'
import { roleCommands } from './index.ts'

const io = {
  out: () => undefined,
  err: () => undefined,
  styled: (_style: string, text: string) => text,
  columns: () => undefined,
  time_zone: 'UTC',
  stdin: async () => '',
  now_ms: () => 0,
  stop: new AbortController().signal,
}

describe.each(roleCommands.map((command) => [command.words, command] as const))(
  '%s',
  (_, command) => {
    test('has examples that its options accept', async () => {
      expect(command.examples.length).toBeGreaterThan(0)
      for (const { command: line } of command.examples) {
        const found = commandOf(roleCommands, line.split(' ').slice(1))
        expect(found?.command.words).toBe(command.words)
        const noted = { ...command, load: async () => async () => 0 }
        expect(await runCommand(noted, found?.args ?? [], io)).toBe(0)
      }
    })

    test('rejects extra arguments', async () => {
      expect(await runCommand(command, ['one', 'two', 'three'], io)).toBe(2)
    })
  },
)

test.each([[[]], [['--all', 'an-id']]])(
  'a replay with the arguments %j is a usage error',
  async (args) => {
    const replay = roleCommands.find(({ words }) => words === 'dead-letters replay')
    if (replay === undefined) throw new Error('there is no replay')
    expect(await runCommand(replay, args, io)).toBe(2)
  },
)
