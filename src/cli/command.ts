/** Exit statuses of commands. */
export const exitStatus = { ok: 0, findings: 1, usage: 2, no_answer: 3 } as const

/** A command of the command line as data. Its code is imported when it runs. */
export type Command = {
  /** The words that name the command: `lint`, `migrate check`. */
  words: string
  /** Summary in one line, for the list of commands. */
  summary: string
  /** Arguments after `looptrace <words>`: `-f <file|folder|->`. */
  synopsis: string
  /** Paragraphs of the help. */
  about: readonly string[]
  options: Readonly<Record<string, Option>>
  /** Bounds of the number of positional arguments. */
  words_min: number
  words_max: number
  examples: readonly { command: string; about: string }[]
  /** Meaning of each exit status. */
  statuses: Readonly<Record<number, string>>
  /** Exit status of an invalid command line; 2 by default. */
  usage_status?: number
  load(): Promise<Run>
}

/** An option with or without a value. */
export type Option = {
  short?: string
  about: string
  /** Placeholder of the value in the help: `<file>`. Left out for a flag. */
  value?: string
  multiple?: true
  /** Allowed values. */
  choices?: readonly string[]
}

/** Runs the command and resolves with the exit status. */
export type Run = (args: Arguments, io: CommandIo) => Promise<number>

/** The parsed positional arguments and options of the command line. */
export type Arguments = {
  words: readonly string[]
  flag(name: string): boolean
  value(name: string): string | undefined
  values(name: string): readonly string[]
}

/** Styles of text at a terminal. */
export type Style = 'red' | 'yellow' | 'green' | 'bold' | 'dim'

/** The terminal, the clock and the stop signal of a command. */
export type CommandIo = {
  out(text: string): void
  err(text: string): void
  /** Styles the text if the output is a terminal and NO_COLOR is not set. */
  styled(style: Style, text: string): string
  /** Width of the terminal in columns; undefined if the output is not a terminal. */
  columns(): number | undefined
  /** IANA name of the local time zone, such as `Europe/Berlin`. */
  time_zone: string
  stdin(): Promise<string>
  now_ms(): number
  /** Aborts at SIGINT and SIGTERM. */
  stop: AbortSignal
}

/** The command line is invalid; the message says how. Exit status 2, or the command's `usage_status`. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** A server or cluster gave no answer; the message says why. Exit status 3. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer'
  /** Status of the server's answer; undefined without an answer. */
  readonly status: number | undefined

  constructor(message: string, { status, ...options }: ErrorOptions & { status?: number } = {}) {
    super(message, options)
    this.status = status
  }
}

/** The option of every command that reads resources from files. */
export const filenameOption: Option = {
  short: 'f',
  value: '<path>',
  multiple: true,
  about: 'A file, a folder, or - for standard input.',
}

/** The output option of every command that prints data. */
export const outputOption: Option = {
  short: 'o',
  value: '<form>',
  choices: ['table', 'json', 'yaml'],
  about: 'Output format. Default: table.',
}

/** The output option of commands that print what the API answers. */
export const answerOption: Option = {
  short: 'o',
  value: '<form>',
  choices: ['table', 'json'],
  about: 'Output format; `json` is the answer of the API. Default: table.',
}
