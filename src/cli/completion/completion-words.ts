import type { Command, Option } from '../command.ts'

/** Completion of a value or an argument: fixed words, paths of files, or nothing. */
export type Completed = { words: readonly string[] } | 'files' | 'none'

/** An option as it is written. */
export type WrittenOption = {
  name: string
  short: string | undefined
  option: Option
  value: Completed
}

/** Placeholders whose value is a path. */
const pathPlaceholder = /file|path|folder|json>/

/** Returns the options of a command, with --help. */
export function writtenOptions({ options }: Command): WrittenOption[] {
  const help: Option = { short: 'h', about: 'Print this help.' }
  return Object.entries({ ...options, help }).map(([name, option]) => ({
    name,
    short: option.short,
    option,
    value: completedBy(option),
  }))
}

function completedBy({ value, choices }: Option): Completed {
  if (value === undefined) return 'none'
  if (choices !== undefined) return { words: choices }
  return pathPlaceholder.test(value) ? 'files' : 'none'
}

/** Returns what completes the positional arguments of a command: words such as `bash|zsh|fish`, or files. */
export function argumentsOf({ synopsis, words_max }: Command): Completed {
  if (words_max === 0) return 'none'
  const [first = ''] = synopsis.split(' ')
  if (/^[a-z]+(\|[a-z]+)+$/.test(first)) return { words: first.split('|') }
  return first.startsWith('<file') ? 'files' : 'none'
}

/** Returns the second words of the commands with this first word. */
export function secondWords(commands: readonly Command[], first: string): Command[] {
  return commands.filter(({ words }) => words.startsWith(`${first} `))
}

/** Returns the first words of all commands, each once, with a summary. */
export function firstWords(commands: readonly Command[]): { word: string; summary: string }[] {
  const found = new Map<string, string>()
  for (const { words, summary } of commands) {
    const [first = ''] = words.split(' ')
    const own = words === first ? summary : `${words}: ${summary}`
    if (!found.has(first) || words === first) found.set(first, own)
  }
  return [...found, ['help', 'Prints the help of a command'] as const].map(([word, summary]) => ({
    word,
    summary,
  }))
}

/** Quotes text for bash, zsh and fish: in apostrophes. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
