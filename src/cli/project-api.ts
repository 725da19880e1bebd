import { z } from 'zod'
import { askApi, projectSettings } from './ask-api.ts'
import { type Arguments, type CommandIo, NoAnswer, UsageError } from './command.ts'

/** The API for one project, with the credentials of the settings. */
export type ProjectApi = {
  /** URL of the API, for messages. */
  url: string
  /** Reads a path. Throws like `askApi`. */
  get(path: string, parameters?: URLSearchParams): Promise<unknown>
  /** Sends a body to a path. Throws like `askApi`. */
  post(path: string, body: unknown): Promise<unknown>
}

/** Opens the API with the credentials of the settings. Throws `UsageError` without any. */
export function openProjectApi(io: Pick<CommandIo, 'stop'>): ProjectApi {
  const { url, credentials } = projectSettings()
  const asked = { ...credentials, stop: io.stop }
  return {
    url,
    get(path, parameters) {
      const at = new URL(path, url)
      if (parameters !== undefined) at.search = parameters.toString()
      return askApi(at, asked)
    },
    post: (path, body) => askApi(new URL(path, url), { ...asked, body }),
  }
}

/**
 * Reads the parts of an answer that are used; another version of the API may have more. Throws
 * `NoAnswer` for another shape.
 */
export function readAnswer<Schema extends z.ZodType>(
  schema: Schema,
  answer: unknown,
  { url }: Pick<ProjectApi, 'url'>,
): z.output<Schema> {
  const read = schema.safeParse(answer)
  if (read.success) return read.data
  throw new NoAnswer(`${url}: the answer is not one of this version: check LOOPTRACE_URL`)
}

/** Pages that `--all` reads at most. */
export const pages_max = 20

/** Items of a page that `--all` reads. */
const pageSize = 500

const pageSchema = z.looseObject({ next_cursor: z.string().nullable() })

/**
 * Reads one page, or with `--all` up to `pages_max` of them as one: the first answer with the items
 * of all, and the last `next_cursor`. `items` is the field of the items.
 */
export async function readPages(
  ask: (page: { cursor: string | undefined; limit: number | undefined }) => Promise<unknown>,
  { items, args, api }: { items: string; args: Arguments; api: Pick<ProjectApi, 'url'> },
): Promise<Record<string, unknown>> {
  const isAll = args.flag('all')
  const limit = limitOf(args) ?? (isAll ? pageSize : undefined)
  const joined: unknown[] = []
  let cursor = args.value('cursor')
  let first: Record<string, unknown> | undefined
  for (let page = 0; page < pages_max; page++) {
    const answer = readAnswer(pageSchema, await ask({ cursor, limit }), api)
    joined.push(...readAnswer(z.array(z.unknown()), answer[items], api))
    first ??= answer
    cursor = answer.next_cursor ?? undefined
    if (!isAll || cursor === undefined) break
  }
  return { ...first, [items]: joined, next_cursor: cursor ?? null }
}

function limitOf(args: Arguments): number | undefined {
  const text = args.value('limit')
  if (text === undefined) return undefined
  if (/^[1-9]\d{0,4}$/.test(text)) return Number(text)
  throw new UsageError(`--limit: got "${text}", expected a whole number from 1`)
}
