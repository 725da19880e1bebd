import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { completionScripts } from '../src/cli/completion/completion-scripts.ts'
import { roleCommands, toolCommands } from '../src/roles/index.ts'

const commands = [...roleCommands, ...toolCommands]
const shells = ['bash', 'zsh', 'fish'] as const

let directory: string
const scriptOf = (shell: string) => join(directory, `completion.${shell}`)

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'looptrace-completion-'))
  for (const shell of shells) writeFileSync(scriptOf(shell), completionScripts[shell](commands))
  writeFileSync(join(directory, 'my policy.yaml'), '')
})
afterAll(() => rmSync(directory, { recursive: true }))

const isInstalled = (shell: string) => spawnSync(shell, ['-c', 'true']).status === 0

/** What bash completes after the words; the last one is begun. */
function completedByBash(...words: string[]): string[] {
  const script = `source "$1"; shift
    COMP_WORDS=("$@"); COMP_CWORD=$(( $# - 1 )); _looptrace
    printf '%s\\n' "\${COMPREPLY[@]}"`
  const args = ['-c', script, 'bash', scriptOf('bash'), 'looptrace', ...words]
  const output = execFileSync('bash', args, { cwd: directory, encoding: 'utf8' })
  return output.split('\n').filter((line) => line !== '')
}

describe.each(shells)('the script of %s', (shell) => {
  test.runIf(isInstalled(shell))('is valid', () => {
    const { status, stderr } = spawnSync(shell, ['-n', scriptOf(shell)], { encoding: 'utf8' })
    expect([status, stderr]).toEqual([0, ''])
  })

  test('names every command and option', () => {
    const script = completionScripts[shell](commands)
    for (const { words, options } of commands) {
      for (const word of words.split(' ')) expect(script).toContain(word)
      for (const name of Object.keys(options)) {
        expect(script).toContain(shell === 'fish' ? `-l ${name}` : `--${name}`)
      }
    }
  })
})

describe('bash completes', () => {
  test.each<[string[], string[]]>([
    [['ta'], ['tasks', 'task', 'tail']],
    [
      ['incidents', ''],
      ['ack', 'resolve'],
    ],
    [['dead-letters', 'r'], ['replay']],
    [['incidents', 'ack', '--no'], ['--note']],
    [['tasks', '--severity-min', 'h'], ['high']],
    [['tasks', '--severity-min', '=', 'h'], ['high']],
    [
      ['tasks', '--severity-min', '='],
      ['info', 'low', 'medium', 'high', 'critical'],
    ],
    [
      ['tail', '-o', ''],
      ['table', 'json'],
    ],
    [['query', '--out'], ['--output']],
    [['query', '-o', 'c'], ['csv']],
    [['lint', '-f', 'my'], ['my policy.yaml']],
    [
      ['completion', ''],
      ['bash', 'zsh', 'fish'],
    ],
    [['help', 'trac'], ['trace']],
    [['tasks', '--name', ''], []],
    [['unknown', ''], []],
  ])('%j with %j', (words, expected) => {
    expect(completedByBash(...words)).toEqual(expected)
  })
})

test.runIf(isInstalled('fish'))('fish completes commands, options and values', () => {
  const completed = (line: string) => {
    const args = ['-c', 'source $argv[1]; complete -C $argv[2]', scriptOf('fish'), line]
    const env = { ...process.env, HOME: directory, XDG_CONFIG_HOME: directory }
    const output = execFileSync('fish', args, { cwd: directory, encoding: 'utf8', env })
    return output
      .split('\n')
      .map((one) => one.split('\t')[0])
      .filter((one) => one !== '')
  }
  expect(completed('looptrace ta')).toEqual(['tail', 'task', 'tasks'])
  expect(completed('looptrace incidents ack --no')).toEqual(['--note'])
  expect(completed('looptrace tasks --severity-min h')).toEqual(['high'])
  expect(completed('looptrace completion ')).toEqual(['bash', 'fish', 'zsh'])
})
