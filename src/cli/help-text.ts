import type { Command, Option } from './command.ts'

/** Returns the text of `looptrace <command> --help`. */
export function helpOf(command: Command): string {
  const { words, synopsis, summary, about, examples, statuses } = command
  return [
    `usage: looptrace ${words}${synopsis === '' ? '' : ` ${synopsis}`}`,
    '',
    `${summary}.`,
    ...about.flatMap((paragraph) => ['', paragraph]),
    '',
    'options:',
    ...formatColumns(optionRows(command)),
    '',
    'examples:',
    ...examples.flatMap(({ command: line, about: says }) => [`  # ${says}`, `  ${line}`]),
    '',
    'exit status:',
    ...formatColumns(Object.entries(statuses)),
    '',
  ].join('\n')
}

/** Returns the text of `looptrace --help`. */
export function overviewOf(commands: readonly Command[], roles: readonly Command[]): string {
  const list = (some: readonly Command[]) =>
    formatColumns(some.map(({ words, summary }) => [words, summary]))
  return [
    'usage: looptrace [role]',
    '       looptrace <command> [options]',
    '',
    'roles and maintenance (settings are LOOPTRACE_* variables, see docs/reference/configuration.md):',
    ...list(roles),
    '',
    'commands:',
    ...list(commands),
    '',
    'Run `looptrace <command> --help` for details, or see docs/reference/cli.md.',
    '',
  ].join('\n')
}

/** Returns each option with its placeholder, and its description. */
export function optionRows({ options }: Command): [string, string][] {
  const rows = Object.entries(options).map(([name, option]): [string, string] => [
    writtenOption(name, option),
    meaningOf(option),
  ])
  return [...rows, ['-h, --help', 'Print this help.']]
}

function writtenOption(name: string, { short, value }: Option): string {
  const long = `--${name}${value === undefined ? '' : ` ${value}`}`
  return short === undefined ? long : `-${short}, ${long}`
}

function meaningOf({ about, choices, multiple }: Option): string {
  const values = choices === undefined ? '' : ` One of ${choices.join(', ')}.`
  return `${about}${values}${multiple ? ' Can be repeated.' : ''}`
}

function formatColumns(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([first]) => first.length))
  return rows.map(([first, second]) => `  ${first.padEnd(width)}   ${second}`)
}
