/** What a command ends with. */
export const exitStatus = { ok: 0, findings: 1, usage: 2, could_not_ask: 3 } as const

/** A command of the command line as data; what it does is imported when it is asked for. */
export type Command = {
  /** `lint`, `migrate check`. */
  words: string
  /** One line of the list of commands. */
  summary: string
  /** What stands after `looptrace <words>`: `-f <file|folder|->`. */
  synopsis: string
  /** Paragraphs of its help. */
  about: readonly string[]
  options: Readonly<Record<string, Option>>
  /** How many words it takes that are no options. */
  words_min: number
  words_max: number
  examples: readonly { command: string; about: string }[]
  /** What each exit status means. */
  statuses: Readonly<Record<number, string>>
  load(): Promise<Run>
}

/** An option: a flag, or one with a value. */
export type Option = {
  short?: string
  about: string
  /** Names the value in the help: `<file>`. Left out: a flag. */
  value?: string
  multiple?: true
  /** The values that it takes. */
  choices?: readonly string[]
}

/** Does it, and resolves with the exit status. */
export type Run = (asked: Asked, io: CommandIo) => Promise<number>

/** The words and options of the command line. */
export type Asked = {
  words: readonly string[]
  flag(name: string): boolean
  value(name: string): string | undefined
  values(name: string): readonly string[]
}

/** What a command has of the outside world. */
export type CommandIo = {
  out(text: string): void
  err(text: string): void
  /** Coloured when the output is a terminal and NO_COLOR is not set. */
  styled(style: 'red' | 'yellow' | 'green' | 'bold' | 'dim', text: string): string
  stdin(): Promise<string>
  now_ms(): number
  /** Aborts at SIGINT and SIGTERM. */
  stop: AbortSignal
}

/** The command line is wrong; the message says how. Exit status 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** What was to be asked gives no answer; the message says why. Exit status 3. */
export class CouldNotAsk extends Error {
  override readonly name = 'CouldNotAsk'
}

/** The option of every command that answers with data. */
export const outputOption: Option = {
  short: 'o',
  value: '<form>',
  choices: ['table', 'json', 'yaml'],
  about: 'How the answer is written; table when left out.',
}
