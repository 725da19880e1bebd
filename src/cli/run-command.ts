import { text } from 'node:stream/consumers'
import { parseArgs, styleText } from 'node:util'
import {
  type Asked,
  type Command,
  type CommandIo,
  CouldNotAsk,
  exitStatus,
  type Option,
  UsageError,
} from './command.ts'
import { helpOf } from './help-text.ts'

/**
 * Runs a command with the arguments behind its words, or prints its help. Resolves with the exit
 * status; what is no fault of the command line and no missing answer rejects.
 */
export async function runCommand(
  command: Command,
  args: readonly string[],
  io: CommandIo,
): Promise<number> {
  try {
    const asked = parse(command, args)
    if (asked === 'help') {
      io.out(helpOf(command))
      return exitStatus.ok
    }
    const run = await command.load()
    return await run(asked, io)
  } catch (error) {
    const { words } = command
    if (error instanceof UsageError) {
      io.err(`looptrace ${words}: ${error.message}\nSee: looptrace ${words} --help\n`)
      return exitStatus.usage
    }
    if (!(error instanceof CouldNotAsk)) throw error
    io.err(`looptrace ${words}: ${error.message}\n`)
    return exitStatus.could_not_ask
  }
}

/** The command that the first words name, the longest first, and what stands behind them. */
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

function parse(command: Command, args: readonly string[]): Asked | 'help' {
  const { values, positionals } = parsed(command, args)
  if (values['help'] === true) return 'help'
  const { words_min, words_max, options } = command
  if (positionals.length > words_max) {
    throw new UsageError(`got "${positionals[words_max]}", expected no further word`)
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

function parsed(command: Command, args: readonly string[]) {
  const options = Object.entries(command.options).map(([name, option]) => [name, typed(option)])
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options: { ...Object.fromEntries(options), ...helpOption },
      allowPositionals: true,
    })
    return { values: values as Values, positionals }
  } catch (error) {
    const [sentence] = (error as Error).message.split(/\. |\n/)
    throw new UsageError(String(sentence))
  }
}

function typed({ value, short, multiple }: Option) {
  return {
    type: value === undefined ? ('boolean' as const) : ('string' as const),
    ...(short !== undefined && { short }),
    ...(multiple !== undefined && { multiple }),
  }
}

function checkChoice(name: string, { choices }: Option, value: unknown): void {
  if (choices === undefined || value === undefined || choices.includes(String(value))) return
  throw new UsageError(`--${name}: got "${value}", expected one of ${choices.join(', ')}`)
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function listOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.map(String)
  return typeof value === 'string' ? [value] : []
}

/** The terminal, or what stands in its place: colours only where it is one and NO_COLOR is not set. */
export function terminalIo(stop: AbortSignal): CommandIo {
  return {
    out: (words) => void process.stdout.write(words),
    err: (words) => void process.stderr.write(words),
    styled: (style, words) => styleText(style, words, { stream: process.stdout }),
    stdin: () => text(process.stdin),
    now_ms: () => Date.now(),
    stop,
  }
}
