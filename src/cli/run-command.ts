import { text } from 'node:stream/consumers'
import { parseArgs, styleText } from 'node:util'
import { printableLines } from '../kernel/printable.ts'
import {
  type Arguments,
  type Command,
  type CommandIo,
  exitStatus,
  NoAnswer,
  type Option,
  UsageError,
} from './command.ts'
import { didYouMean } from './did-you-mean.ts'
import { helpOf } from './help-text.ts'

/**
 * Runs a command with the given arguments, or prints its help. Resolves with the exit status.
 * `subcommands` are the words that other commands have after those of this one. Errors other than `UsageError` and `NoAnswer` reject.
 */
export async function runCommand(
  command: Command,
  args: readonly string[],
  io: CommandIo,
  subcommands: readonly string[] = [],
): Promise<number> {
  try {
    const parsed = parse(command, args, subcommands)
    if (parsed === 'help') {
      io.out(helpOf(command))
      return exitStatus.ok
    }
    const run = await command.load()
    return await run(parsed, io)
  } catch (error) {
    const { words } = command
    if (error instanceof UsageError) {
      io.err(
        `looptrace ${words}: ${printableLines(error.message)}\nSee: looptrace ${words} --help\n`,
      )
      return command.usage_status ?? exitStatus.usage
    }
    if (!(error instanceof NoAnswer)) throw error
    io.err(`looptrace ${words}: ${printableLines(error.message)}\n`)
    return exitStatus.no_answer
  }
}

/** Returns the second words of commands whose first word is `words`. */
export function subcommandsOf(commands: readonly Command[], words: string): string[] {
  const start = `${words} `
  return commands.flatMap((one) =>
    one.words.startsWith(start) ? [one.words.slice(start.length)] : [],
  )
}

/** Finds the command of the first words, preferring two words, and returns the other arguments. */
export function commandOf(
  commands: readonly Command[],
  words: readonly string[],
): { command: Command; args: readonly string[] } | undefined {
  for (const length of [2, 1]) {
    const name = words.slice(0, length).join(' ')
    const command = words.length < length ? undefined : commands.find((one) => one.words === name)
    if (command !== undefined) return { command, args: words.slice(length) }
  }
  return undefined
}

const helpOption = { help: { type: 'boolean', short: 'h' } } as const

function parse(
  command: Command,
  args: readonly string[],
  subcommands: readonly string[],
): Arguments | 'help' {
  const { values, positionals } = parseOptions(command, args)
  if (values['help'] === true) return 'help'
  const { words_min, words_max, options } = command
  if (positionals.length > words_max) {
    const hint = didYouMean(positionals[0] ?? '', subcommands)
    throw new UsageError(`got "${positionals[words_max]}", expected no further argument${hint}`)
  }
  if (positionals.length < words_min) {
    throw new UsageError(`expected ${command.synopsis}`)
  }
  for (const [name, option] of Object.entries(options)) checkChoice(name, option, values[name])
  return {
    words: positionals,
    flag: (name) => values[name] === true,
    value: (name) => textOf(values[name]),
    values: (name) => listOf(values[name]),
  }
}

type Values = Readonly<Record<string, unknown>>

function parseOptions(command: Command, args: readonly string[]) {
  const options = Object.entries(command.options).map(([name, option]) => [
    name,
    toParseOption(option),
  ])
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: { ...Object.fromEntries(options), ...helpOption },
      allowPositionals: true,
    })
    return { values: values as Values, positionals }
  } catch (error) {
    const [sentence = ''] = (error as Error).message.split(/\. |\n/)
    const [, name] = /^Unknown option '--([^']*)'/.exec(sentence) ?? []
    const known = [...Object.keys(command.options), 'help'].map((one) => `--${one}`)
    throw new UsageError(`${sentence}${name === undefined ? '' : didYouMean(`--${name}`, known)}`)
  }
}

function toParseOption({ value, short, multiple }: Option) {
  return {
    type: value === undefined ? ('boolean' as const) : ('string' as const),
    ...(short !== undefined && { short }),
    ...(multiple !== undefined && { multiple }),
  }
}

function checkChoice(name: string, { choices }: Option, value: unknown): void {
  if (choices === undefined) return
  const wrong = listOf(value).find((one) => !choices.includes(one))
  if (wrong === undefined) return
  const hint = didYouMean(wrong, choices)
  throw new UsageError(`--${name}: got "${wrong}", expected one of ${choices.join(', ')}${hint}`)
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function listOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.map(String)
  return typeof value === 'string' ? [value] : []
}

/** Width of a terminal that does not know its width. */
const columnsDefault = 80

/** Exit status after the reader of the output has gone, as after the signal SIGPIPE. */
const brokenPipeStatus = 141

/**
 * Returns the process's input and output. Colours need a terminal, and NO_COLOR must not be set. The
 * process ends when the reader of its output goes, such as `head`.
 */
export function terminalIo(stop: AbortSignal): CommandIo {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    process.exit(brokenPipeStatus)
  })
  return {
    out: (words) => void process.stdout.write(words),
    err: (words) => void process.stderr.write(words),
    styled: (style, words) => styleText(style, words, { stream: process.stdout }),
    columns: () => (process.stdout.isTTY ? process.stdout.columns || columnsDefault : undefined),
    time_zone: new Intl.DateTimeFormat().resolvedOptions().timeZone,
    stdin: () => text(process.stdin),
    now_ms: () => Date.now(),
    stop,
  }
}
