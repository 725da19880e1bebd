/** Text of a command that is looked at. */
export const command_chars_max = 2_000

/** One command of a line: its words, and whether it only takes in what the one before gives. */
export type ShellCommand = { words: readonly string[]; is_piped: boolean }

/** The commands of a shell's text, roughly: quotes are not understood, which errs on no side much. */
export function shellCommands(text: string): ShellCommand[] {
  const commands: ShellCommand[] = []
  for (const line of text.slice(0, command_chars_max).split(/&&|\|\||[;\n]/)) {
    for (const [at, part] of line.split('|').entries()) {
      const words = wordsOf(part)
      if (words.length > 0) commands.push({ words, is_piped: at > 0 })
    }
  }
  return commands
}

/** Variables before a command and what only wraps it are no part of it. */
function wordsOf(part: string): string[] {
  const words = part.trim().split(/\s+/)
  const start = words.findIndex((word) => !wrappers.has(word) && !/^\w+=/.test(word))
  return start === -1 ? [] : words.slice(start).filter((word) => word !== '')
}

const wrappers = new Set(['sudo', 'time', 'env', 'nohup', 'exec', 'command', '(', '{'])

/** Whether a text of commands only looks at things (or runs tests), as far as it can be told. */
export function isReadOnlyShell(text: string): boolean {
  const looked = text.slice(0, command_chars_max)
  if (text.length > command_chars_max || /<<|[^2&>]>(?!&|\s*\/dev\/null)/.test(` ${looked}`)) {
    return false
  }
  const commands = shellCommands(looked)
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
  return readers.has(name)
}

const readers = wordSet(
  'ls cat head tail grep egrep rg ag awk cut tr sort uniq wc nl jq yq cd pwd echo printf which type ' +
    'whereis file stat du df ps top free uname hostname whoami id env printenv date test true tree ' +
    'less more diff cmp md5sum sha256sum column xxd strings basename dirname realpath readlink ' +
    'pytest jest vitest mypy tsc eslint ruff flake8 pylint rspec phpunit tox',
)

const tests = 'test tests lint check typecheck'
const readingSubcommands: Record<string, Set<string> | undefined> = {
  git: wordSet('status diff log show blame grep ls-files rev-parse remote describe'),
  kubectl: wordSet('get describe logs top explain version'),
  docker: wordSet('ps logs inspect images version info'),
  npm: wordSet(`${tests} ls list view outdated`),
  pnpm: wordSet(`${tests} ls list`),
  yarn: wordSet(`${tests} list`),
  cargo: wordSet(`${tests} clippy tree`),
  go: wordSet(`${tests} vet list env version`),
  make: wordSet(tests),
  pip: wordSet('list show freeze check'),
  npx: wordSet('jest vitest tsc eslint'),
}

function wordSet(words: string): Set<string> {
  return new Set(words.split(' '))
}
