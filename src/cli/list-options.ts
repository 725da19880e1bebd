import { durationMs } from '../kernel/duration.ts'
import { type Arguments, type CommandIo, type Option, UsageError } from './command.ts'
import { pages_max } from './project-api.ts'

/** The options of every command that prints pages of a list. */
export const pageOptions: Readonly<Record<string, Option>> = {
  limit: { value: '<n>', about: 'Maximum items of a page, 1–1,000. Default: 50.' },
  cursor: {
    value: '<cursor>',
    about: 'Start of the page: the cursor that the page before ends with.',
  },
  all: { about: `Read all pages, up to ${pages_max}.` },
}

/** The paragraph about address and credentials of commands that read the data of a project. */
export const aboutCredentials = (scope: string) =>
  'Reads the API at LOOPTRACE_URL with the key of a project or of a service account in LOOPTRACE_API_KEY, which\n' +
  `needs the scope ${scope}; without a key, with a person's access token in LOOPTRACE_ACCESS_TOKEN (and\n` +
  'LOOPTRACE_PROJECT_ID if the token can see several projects).'

/** The exit statuses of commands that only read the API. */
export const readStatuses = {
  0: 'The answer was printed.',
  2: 'The command line or a setting is invalid, or the API refuses a value.',
  3: 'The API does not answer, refuses the credentials, or does not have the item.',
}

/** Values of an option that is sent as a parameter that is true or false. */
export const yesOrNo = ['true', 'false'] as const

/**
 * Returns the parameters of a list route: each given option is the parameter of the same name, in
 * snake case, or has a name of its own in `names`. Instants may be given as an age.
 */
export function parametersFrom(
  args: Arguments,
  options: Readonly<Record<string, Option>>,
  { io, names = {} }: { io: Pick<CommandIo, 'now_ms'>; names?: Readonly<Record<string, string>> },
): URLSearchParams {
  const parameters = new URLSearchParams()
  for (const [option, { value }] of Object.entries(options)) {
    const given = args.values(option)
    if (given.length === 0) continue
    const texts = value === '<time>' ? given.map((text) => instantFrom(option, text, io)) : given
    parameters.set(names[option] ?? option.replaceAll('-', '_'), texts.join(','))
  }
  return parameters
}

const datePattern = /^\d{4}-\d\d-\d\d(?:T.+)?$/

/**
 * Returns an instant in ISO 8601 from one, which is local without a zone, or from an age such as
 * `2h`. Throws `UsageError`.
 */
export function instantFrom(
  option: string,
  text: string,
  { now_ms }: Pick<CommandIo, 'now_ms'>,
): string {
  const age_ms = durationMs(text)
  if (!Number.isNaN(age_ms)) return new Date(now_ms() - age_ms).toISOString()
  const instant_ms = datePattern.test(text)
    ? Date.parse(text.length > 10 ? text : `${text}T00:00`)
    : Number.NaN
  if (!Number.isNaN(instant_ms)) return new Date(instant_ms).toISOString()
  throw new UsageError(
    `--${option}: got "${text}", expected an instant such as 2026-11-29T08:00:00Z, or an age such as 90s, 15m, 2h or 3d`,
  )
}

/** Returns the line that ends a page: how many items it shows, and the option for the next one. */
export function pageEndText(
  { shown, total, next_cursor }: { shown: number; total?: number; next_cursor: string | null },
  noun: string,
): string {
  const of = total === undefined || total === shown ? '' : ` of ${total}`
  const next = next_cursor === null ? '' : ` Next page: --cursor ${next_cursor}`
  return `${shown}${of} ${noun}${shown === 1 ? '' : 's'}.${next}`
}
