import { z } from 'zod'
import { isUuid } from '../../kernel/ids.ts'
import { UsageError } from '../command.ts'
import { didYouMean } from '../did-you-mean.ts'
import { type ProjectApi, readAnswer } from '../project-api.ts'

const listSchema = z.object({
  saved_queries: z.array(z.object({ saved_query_id: z.string(), name: z.string() })),
  next_cursor: z.string().nullable(),
})

/** A project has 1,000 saved queries at most by default. */
const pages_max = 10
const page_size = '200'

/** Finds the id of a saved query by its name or id. Throws `UsageError` for an unknown name. */
export async function findSavedQuery(name: string, api: ProjectApi): Promise<string> {
  if (isUuid(name)) return name
  const names: string[] = []
  const asked = new URLSearchParams({ limit: page_size })
  for (let page = 0; page < pages_max; page++) {
    const answer = await api.get('/api/v2/observability/saved-queries', asked)
    const { saved_queries, next_cursor } = readAnswer(listSchema, answer, api)
    const found = saved_queries.find((one) => one.name === name)
    if (found !== undefined) return found.saved_query_id
    names.push(...saved_queries.map((one) => one.name))
    if (next_cursor === null) break
    asked.set('cursor', next_cursor)
  }
  throw new UsageError(
    `--saved: got "${name}", expected ${knownText(names)}${didYouMean(name, names)}`,
  )
}

const shown_max = 20

function knownText(names: readonly string[]): string {
  if (names.length === 0) return 'the name of a saved query; the project has no saved queries'
  const more = names.length > shown_max ? ` and ${names.length - shown_max} more` : ''
  return `one of ${names.slice(0, shown_max).join(', ')}${more}`
}
