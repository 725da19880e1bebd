import type { ToolUse } from '../../reconstruction/index.ts'
import { remember } from '../remember.ts'

const name_chars_max = 128

/**
 * Returns the words of a tool's name in lower case: `mcp__jira__getIssue` is mcp, jira, get, issue.
 */
export function wordsOfTool(name: string): readonly string[] {
  return name
    .slice(0, name_chars_max)
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
}

/** Returns the arguments of a call as an object; empty if they are not one. */
export const argumentsOf = remember((use: ToolUse): Readonly<Record<string, unknown>> => {
  if (use.arguments === null || !use.arguments.trimStart().startsWith('{')) return {}
  try {
    const parsed: unknown = JSON.parse(use.arguments)
    return isRecord(parsed) ? parsed : {}
  } catch {
    return {}
  }
})

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const shellWords = new Set(
  'bash sh zsh shell terminal console powershell ssh tmux repl ipython jupyter notebook'.split(' '),
)
const runnerWords = new Set(
  'exec execute run command cmd code python interpreter process'.split(' '),
)
const commandKeys = ['command', 'cmd', 'script', 'code', 'commands', 'input']

/** Returns the command or code given to a tool that runs it; undefined for other tools. */
export const commandOf = remember((use: ToolUse): string | undefined => {
  const words = wordsOfTool(use.name)
  const isShell = words.some((word) => shellWords.has(word))
  if (!isShell && !words.some((word) => runnerWords.has(word))) return undefined
  const given = argumentsOf(use)
  for (const key of commandKeys) {
    const value = given[key]
    if (typeof value === 'string') return value
    if (Array.isArray(value)) return value.filter((part) => typeof part === 'string').join(' ')
  }
  return isShell ? (use.arguments ?? '') : undefined
})

/** Maximum characters read of a command. */
const command_chars_max = 2_000

/** A command of a line: its words, and whether it reads from a pipe. */
type ShellCommand = { words: readonly string[]; is_piped: boolean }

/** Splits a shell text into commands. Quotes are not parsed, which rarely changes the outcome. */
export function splitShellCommands(text: string): ShellCommand[] {
  const commands: ShellCommand[] = []
  for (const line of text.slice(0, command_chars_max).split(/&&|\|\||[;\n]/)) {
    for (const [at, part] of line.split('|').entries()) {
      const words = wordsOf(part)
      if (words.length > 0) commands.push({ words, is_piped: at > 0 })
    }
  }
  return commands
}

/** Returns the words of a command without leading variables and wrappers. */
function wordsOf(part: string): string[] {
  const words = part.trim().split(/\s+/)
  const start = words.findIndex((word) => !wrappers.has(word) && !/^\w+=/.test(word))
  return start === -1 ? [] : words.slice(start).filter((word) => word !== '')
}

const wrappers = new Set(['sudo', 'time', 'env', 'nohup', 'exec', 'command', '(', '{'])

/** Tells whether shell commands only read or run tests, as far as recognised. */
export function isReadOnlyShell(text: string): boolean {
  const looked = text.slice(0, command_chars_max)
  if (text.length > command_chars_max || /<<|[^2&>]>(?!&|\s*\/dev\/null)/.test(` ${looked}`)) {
    return false
  }
  const commands = splitShellCommands(looked)
  return commands.length > 0 && commands.every(({ words }) => isReadOnly(words))
}

function isReadOnly([program = '', ...rest]: readonly string[]): boolean {
  const name = program.slice(program.lastIndexOf('/') + 1)
  if (name === 'sed') return !rest.some((word) => word.startsWith('-i') || word === '--in-place')
  if (name === 'find') return !rest.some((word) => word === '-delete' || word.startsWith('-exec'))
  if (name === 'curl')
    return !rest.some((word) => /^(-[XdFTo]|--(data|request|form|upload))/.test(word))
  const subcommands = readingSubcommands[name]
  if (subcommands !== undefined) {
    const first = rest.find((word) => !word.startsWith('-')) ?? ''
    const second = rest[rest.indexOf(first) + 1] ?? ''
    return subcommands.has(first === 'run' ? second : first)
  }
  return readingPrograms.has(name)
}

const readingPrograms = toWordSet(
  'ls cat head tail grep egrep rg ag awk cut tr sort uniq wc nl jq yq cd pwd echo printf which type ' +
    'whereis file stat du df ps top free uname hostname whoami id env printenv date test true tree ' +
    'less more diff cmp md5sum sha256sum column xxd strings basename dirname realpath readlink ' +
    'pytest jest vitest mypy tsc eslint ruff flake8 pylint rspec phpunit tox',
)

const testWords = 'test tests lint check typecheck'
const readingSubcommands: Record<string, Set<string> | undefined> = {
  git: toWordSet('status diff log show blame grep ls-files rev-parse remote describe'),
  kubectl: toWordSet('get describe logs top explain version'),
  docker: toWordSet('ps logs inspect images version info'),
  npm: toWordSet(`${testWords} ls list view outdated`),
  pnpm: toWordSet(`${testWords} ls list`),
  yarn: toWordSet(`${testWords} list`),
  cargo: toWordSet(`${testWords} clippy tree`),
  go: toWordSet(`${testWords} vet list env version`),
  make: toWordSet(testWords),
  pip: toWordSet('list show freeze check'),
  npx: toWordSet('jest vitest tsc eslint'),
}

/** Splits words at spaces. */
export function toWordSet(words: string): Set<string> {
  return new Set(words.split(' '))
}
